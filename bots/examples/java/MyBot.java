// A bot that plays a random legal move in every family: the referee sends it the list.
//
// Begin with choose. Once your program generates the moves itself, remove the option UGI_LegalMoves.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

final class MyBot {
    private static final Random CHANCE = new Random();

    // Returns the move to play. `position` is "startpos", "startpos moves M...", "fen P" or "fen P moves M...".
    // `limits` is what follows `go`, such as "movetime 100" or "p1time 5000 p2time 4000 p1inc 100 p2inc 100".
    private static String choose(String position, List<String> moves, String limits) {
        return moves.get(CHANCE.nextInt(moves.size()));
    }

    public static void main(String[] arguments) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String position = "startpos";
        List<String> moves = List.of();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] parts = line.strip().split(" ", 2);
            String rest = parts.length > 1 ? parts[1] : "";
            switch (parts[0]) {
                case "ugi" -> say("id name my bot\nid author you\n"
                        + "option name UGI_LegalMoves type check default true\nugiok");
                case "isready" -> say("readyok");
                case "position" -> position = rest;
                case "legal" -> moves = List.of(rest.split(" "));
                case "go" -> {
                    say("bestmove " + (moves.isEmpty() ? "------" : choose(position, moves, rest)));
                    moves = List.of();
                }
                case "quit" -> {
                    return;
                }
                default -> { } // what a bot does not know it ignores
            }
        }
    }

    private static void say(String lines) {
        System.out.print(lines + "\n");
        System.out.flush(); // after every line: the referee waits for it
    }
}
