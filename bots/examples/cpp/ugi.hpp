// ugi.hpp - the Universal Game Interface for bots written in C++17: one header, the standard library, nothing else.
//
// It knows no game: positions and moves are text. Derive from ugi::Bot, override what you need, call run().
// Copy it, change it, ship it with your bot.
#pragma once

#include <algorithm>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace ugi {

// The limits of one search, by their names in the protocol: p1time, p2inc, movetime, depth, nodes, infinite (1) ...
using Limits = std::map<std::string, long long>;

class Bot {
public:
    virtual ~Bot() = default;

    // What follows `ugi`: id and option lines.
    virtual std::vector<std::string> introduction() = 0;
    // A position, empty for the start position of the variant, and the moves played from it. Throw what cannot be read.
    virtual void set_position(const std::string& fen, const std::vector<std::string>& moves) = 0;
    // The move to play in the position set last.
    virtual std::string choose(const Limits& limits) = 0;
    virtual void set_option(const std::string&, const std::string&) {}
    virtual void new_game() {}

    // Reads lines until `quit` or the end of the input.
    int run()
    {
        std::string line;
        while (std::getline(std::cin, line) && hear(line))
            std::cout << std::flush; // after every line: the referee waits for it
        return 0;
    }

private:
    bool is_set = false;

    bool hear(const std::string& line)
    {
        std::istringstream words(line);
        std::string command;
        words >> command;
        try {
            if (command == "ugi")
                introduce();
            else if (command == "isready")
                std::cout << "readyok\n";
            else if (command == "setoption")
                read_option(words);
            else if (command == "uginewgame")
                new_game();
            else if (command == "position")
                read_position(words);
            else if (command == "go")
                std::cout << "bestmove " << (is_set ? choose(read_limits(words)) : "------") << "\n";
        } catch (const std::exception& problem) {
            std::cout << "info string error " << problem.what() << "\n";
        }
        return command != "quit"; // what a bot does not know it ignores
    }

    void introduce()
    {
        for (const auto& line : introduction())
            std::cout << line << "\n";
        std::cout << "ugiok\n";
    }

    // "name N value V"; names and values may contain blanks.
    void read_option(std::istringstream& words)
    {
        std::string word, name, value;
        std::string* target = nullptr;
        while (words >> word) {
            if (word == "name" && target == nullptr)
                target = &name;
            else if (word == "value" && target == &name)
                target = &value;
            else if (target != nullptr)
                *target += (target->empty() ? "" : " ") + word;
        }
        set_option(name, value);
    }

    // "startpos [moves ...]" or "fen P [moves ...]".
    void read_position(std::istringstream& words)
    {
        is_set = false;
        std::string word, fen;
        std::vector<std::string> moves;
        words >> word;
        if (word != "startpos" && word != "fen")
            throw std::invalid_argument("position needs startpos or fen");
        while (words >> word && word != "moves")
            fen += (fen.empty() ? "" : " ") + word;
        while (words >> word)
            moves.push_back(word);
        set_position(fen, moves);
        is_set = true;
    }

    static Limits read_limits(std::istringstream& words)
    {
        Limits limits;
        std::string word;
        while (words >> word) {
            long long number = 1;
            if (word != "infinite" && !(words >> number))
                break;
            limits[word] = std::max(0LL, number);
        }
        return limits;
    }
};

} // namespace ugi
