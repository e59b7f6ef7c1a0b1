// A bot for Lines of Action (8x8, the standard rules) in C++17: this file and ugi.hpp, no library.
//
// It wins when it can win at once; else it makes the move after which its own pieces stand closest together. It answers
// at once, so clocks and `stop` need no attention.
#include "ugi.hpp"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <tuple>

namespace {

const std::string START = "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1";
constexpr int SIZE = 8;
constexpr char EMPTY = '.';
// Half of the directions of a queen; the other half are their opposites.
constexpr std::array<std::pair<int, int>, 4> AXES{{{1, 0}, {0, 1}, {1, 1}, {1, -1}}};

// A source and a target cell, each rank * 8 + file; a pass goes from -1 to -1.
struct Move {
    int from = -1, to = -1;

    std::string text() const { return from < 0 ? "pass" : name(from) + name(to); }

private:
    static std::string name(int cell)
    {
        return {static_cast<char>('a' + cell % SIZE), static_cast<char>('1' + cell / SIZE)};
    }
};

struct Board {
    std::array<char, SIZE * SIZE> cells{};
    char turn = 'b';

    // Reads "board side ...": ranks from the top, digits for runs of empty cells.
    explicit Board(const std::string& text)
    {
        std::istringstream fields(text);
        std::string ranks, side;
        fields >> ranks >> side;
        if (side != "b" && side != "w")
            throw std::invalid_argument("no side to move");
        turn = side[0];
        cells.fill(EMPTY);
        int x = 0, y = SIZE - 1;
        for (char letter : ranks + "/") {
            if (letter == '/') {
                if (x != SIZE || y < 0)
                    throw std::invalid_argument("a rank that has not 8 cells, or too many ranks");
                x = 0, --y;
            } else if (letter >= '1' && letter <= '8') {
                x += letter - '0';
            } else if ((letter == 'b' || letter == 'w') && x < SIZE && y >= 0) {
                cells[y * SIZE + x++] = letter;
            } else {
                throw std::invalid_argument("unreadable position");
            }
        }
        if (y != -1)
            throw std::invalid_argument("too few ranks");
    }

    char other() const { return turn == 'b' ? 'w' : 'b'; }

    // A piece moves as many cells as there are pieces on its line, over its own but not over the other's.
    std::vector<Move> legal() const
    {
        std::vector<Move> found;
        for (int from = 0; from < SIZE * SIZE; ++from) {
            if (cells[from] != turn)
                continue;
            for (auto [dx, dy] : AXES) {
                int count = 0;
                for (int n = 1 - SIZE; n < SIZE; ++n)
                    count += at(from, n * dx, n * dy) >= 0 && cells[at(from, n * dx, n * dy)] != EMPTY;
                for (int way : {1, -1}) {
                    int to = at(from, way * count * dx, way * count * dy);
                    bool is_free = to >= 0 && cells[to] != turn;
                    for (int n = 1; n < count && is_free; ++n)
                        is_free = cells[at(from, way * n * dx, way * n * dy)] != other();
                    if (is_free)
                        found.push_back({from, to});
                }
            }
        }
        if (found.empty())
            found.push_back({});
        return found;
    }

    Board after(Move move) const
    {
        Board next = *this;
        if (move.from >= 0)
            next.cells[move.to] = turn, next.cells[move.from] = EMPTY;
        next.turn = other();
        return next;
    }

    // Whether the pieces of a side are one group of touching pieces.
    bool is_connected(char side) const
    {
        std::vector<int> rest = pieces(side), group;
        if (!rest.empty())
            group.push_back(rest.back()), rest.pop_back();
        while (!group.empty()) {
            int one = group.back();
            group.pop_back();
            auto far = std::partition(rest.begin(), rest.end(), [&](int c) { return distance(c, one) > 1; });
            group.insert(group.end(), far, rest.end());
            rest.erase(far, rest.end());
        }
        return rest.empty();
    }

    // How far the pieces of a side stand apart: the sum of all distances between two of them.
    int spread(char side) const
    {
        int sum = 0;
        for (int one : pieces(side))
            for (int two : pieces(side))
                sum += distance(one, two);
        return sum;
    }

private:
    static int distance(int a, int b)
    {
        return std::max(std::abs(a % SIZE - b % SIZE), std::abs(a / SIZE - b / SIZE));
    }

    // The cell that far away, or -1 off the board.
    static int at(int cell, int dx, int dy)
    {
        int x = cell % SIZE + dx, y = cell / SIZE + dy;
        return x < 0 || x >= SIZE || y < 0 || y >= SIZE ? -1 : y * SIZE + x;
    }

    std::vector<int> pieces(char side) const
    {
        std::vector<int> found;
        for (int cell = 0; cell < SIZE * SIZE; ++cell)
            if (cells[cell] == side)
                found.push_back(cell);
        return found;
    }
};

class LoaBot : public ugi::Bot {
    Board board{START};

    std::vector<std::string> introduction() override
    {
        return {"id name loa_bot_cpp", "id author the arena", "id family loa",
                "option name Variant type combo default standard var standard"};
    }

    void set_position(const std::string& fen, const std::vector<std::string>& moves) override
    {
        Board next(fen.empty() ? START : fen);
        for (const auto& word : moves) {
            auto legal = next.legal();
            auto found = std::find_if(legal.begin(), legal.end(), [&](Move m) { return m.text() == word; });
            if (found == legal.end())
                throw std::invalid_argument("illegal move " + word);
            next = next.after(*found);
        }
        board = next;
    }

    std::string choose(const ugi::Limits&) override
    {
        auto worth = [&](Move move) {
            Board next = board.after(move);
            bool own = next.is_connected(board.turn), theirs = next.is_connected(next.turn);
            // a win, a move like others, a draw, the last stray piece of the other taken
            int kind = own ? (theirs ? 2 : 0) : theirs ? 3 : 1;
            return std::make_tuple(kind, kind == 1 ? next.spread(board.turn) : 0);
        };
        auto moves = board.legal();
        return std::min_element(moves.begin(), moves.end(), [&](Move a, Move b) { return worth(a) < worth(b); })->text();
    }
};

} // namespace

int main()
{
    return LoaBot().run();
}
