#!/bin/sh
# Shakes hands, then ends in the middle of a word.
read -r line && echo "id name shell" && echo "ugiok"
while read -r line; do
    case $line in
    isready) echo readyok ;;
    go*) printf 'bestmo' && exit 1 ;;
    esac
done
