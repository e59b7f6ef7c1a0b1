// A bot that plays a random legal move in every family: the referee sends it the list.
//
// Begin with choose. Once your program generates the moves itself, remove the option UGI_LegalMoves.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"time"
)

// choose returns the move to play. position is "startpos", "startpos moves M...", "fen P" or "fen P moves M...".
// limits is what follows "go", such as "movetime 100" or "p1time 5000 p2time 4000 p1inc 100 p2inc 100".
func choose(position string, moves []string, limits string) string {
	return moves[chance.Intn(len(moves))]
}

var chance = rand.New(rand.NewSource(time.Now().UnixNano() + int64(os.Getpid())))

func main() {
	position, moves := "startpos", []string{}
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadString('\n')
		if err != nil {
			return
		}
		command, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		// Println writes at once, without a buffer: the referee waits for the line.
		switch command {
		case "ugi":
			fmt.Println("id name my bot\nid author you\noption name UGI_LegalMoves type check default true\nugiok")
		case "isready":
			fmt.Println("readyok")
		case "position":
			position = rest
		case "legal":
			moves = strings.Fields(rest)
		case "go":
			move := "------"
			if len(moves) > 0 {
				move = choose(position, moves, rest)
			}
			fmt.Println("bestmove", move)
			moves = nil
		case "quit":
			return
		}
	}
}
