// A bot that plays a random legal move in every family: the referee sends it the list.
//
// Begin with choose. Once your program generates the moves itself, remove the option UGI_LegalMoves.
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::mt19937 chance{std::random_device{}()};

// Returns the move to play. `position` is "startpos", "startpos moves M...", "fen P" or "fen P moves M...".
// `limits` is what follows `go`, such as "movetime 100" or "p1time 5000 p2time 4000 p1inc 100 p2inc 100".
std::string choose(const std::string& position, const std::vector<std::string>& moves, const std::string& limits)
{
    (void)position, (void)limits;
    return moves[std::uniform_int_distribution<std::size_t>(0, moves.size() - 1)(chance)];
}

std::vector<std::string> split(const std::string& text)
{
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

} // namespace

int main()
{
    std::string position = "startpos", line;
    std::vector<std::string> moves;
    while (std::getline(std::cin, line)) {
        line.erase(line.find_last_not_of("\r ") + 1);
        const auto end = line.find(' ');
        const std::string command = line.substr(0, end);
        const std::string rest = end == std::string::npos ? "" : line.substr(end + 1);
        if (command == "ugi") {
            std::cout << "id name my bot\nid author you\n"
                      << "option name UGI_LegalMoves type check default true\nugiok\n";
        } else if (command == "isready") {
            std::cout << "readyok\n";
        } else if (command == "position") {
            position = rest;
        } else if (command == "legal") {
            moves = split(rest);
        } else if (command == "go") {
            std::cout << "bestmove " << (moves.empty() ? "------" : choose(position, moves, rest)) << "\n";
            moves.clear();
        } else if (command == "quit") {
            break;
        }
        std::cout << std::flush; // after every line: the referee waits for it
    }
}
