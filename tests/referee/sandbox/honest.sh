#!/bin/sh
# Plays one move of Lines of Action and resigns.
while read -r line; do
    case $line in
    ugi) printf 'id name honest\nugiok\n' ;;
    isready) echo readyok ;;
    go*) echo "bestmove ${move:-h4f2}" && move=resign ;;
    quit) break ;;
    esac
done
