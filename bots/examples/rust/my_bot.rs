//! A bot that plays a random legal move in every family: the referee sends it the list.
//!
//! Begin with `choose`. Once your program generates the moves itself, remove the option UGI_LegalMoves.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, Write};

/// Return the move to play. `position` is "startpos", "startpos moves M...", "fen P" or "fen P moves M...".
/// `limits` is what follows `go`, such as "movetime 100" or "p1time 5000 p2time 4000 p1inc 100 p2inc 100".
fn choose<'a>(_position: &str, moves: &[&'a str], _limits: &str) -> &'a str {
    moves[random() as usize % moves.len()]
}

/// The standard library has no generator of random numbers, but each of its hashers has a random key.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn main() -> io::Result<()> {
    let mut out = io::stdout();
    let mut position = String::from("startpos");
    let mut legal = String::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (command, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match command {
            "ugi" => {
                writeln!(out, "id name my bot\nid author you")?;
                writeln!(out, "option name UGI_LegalMoves type check default true\nugiok")?;
            }
            "isready" => writeln!(out, "readyok")?,
            "position" => position = rest.to_string(),
            "legal" => legal = rest.to_string(),
            "go" => {
                let moves: Vec<&str> = legal.split_whitespace().collect();
                let is_told = !moves.is_empty();
                let chosen = if is_told { choose(&position, &moves, rest) } else { "------" };
                writeln!(out, "bestmove {chosen}")?;
                legal.clear();
            }
            "quit" => break,
            _ => {} // what a bot does not know it ignores
        }
        out.flush()?; // after every line: the referee waits for it
    }
    Ok(())
}
