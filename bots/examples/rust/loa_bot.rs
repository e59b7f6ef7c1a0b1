//! A bot for Lines of Action (8x8, the standard rules) in plain Rust: one file, no crate.
//!
//! It wins when it can win at once; else it makes the move after which its own pieces stand closest together. It answers
//! at once, so clocks and `stop` need no attention.

use std::io::{self, BufRead, Write};

const START: &str = "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1";
const SIZE: i32 = 8;
/// Half of the directions of a queen; the other half are their opposites.
const AXES: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Black,
    White,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Black => Side::White,
            Side::White => Side::Black,
        }
    }
}

/// A source and a target cell, each `rank * 8 + file`; `None` is a pass.
type Move = Option<(usize, usize)>;

#[derive(Clone)]
struct Board {
    cells: [Option<Side>; 64],
    turn: Side,
}

fn cell(x: i32, y: i32) -> Option<usize> {
    ((0..SIZE).contains(&x) && (0..SIZE).contains(&y)).then_some((y * SIZE + x) as usize)
}

fn write_move(m: Move) -> String {
    let name = |c: usize| format!("{}{}", (b'a' + (c % 8) as u8) as char, c / 8 + 1);
    m.map_or("pass".to_string(), |(from, to)| name(from) + &name(to))
}

impl Board {
    /// Read `<board> <side> ...`: ranks from the top, digits for runs of empty cells.
    fn read(text: &str) -> Result<Board, String> {
        let mut fields = text.split_whitespace();
        let ranks: Vec<&str> = fields.next().unwrap_or("").split('/').collect();
        let turn = match fields.next() {
            Some("b") => Side::Black,
            Some("w") => Side::White,
            _ => return Err("no side to move".to_string()),
        };
        let mut cells = [None; 64];
        if ranks.len() != 8 {
            return Err(format!("{} ranks instead of 8", ranks.len()));
        }
        for (row, rank) in ranks.iter().enumerate() {
            let (y, mut x) = (7 - row as i32, 0);
            for letter in rank.chars() {
                if let Some(run) = letter.to_digit(10) {
                    x += run as i32;
                    continue;
                }
                let side = match letter {
                    'b' => Side::Black,
                    'w' => Side::White,
                    _ => return Err(format!("unknown piece {letter}")),
                };
                let place = cell(x, y).ok_or("a rank with more than 8 cells")?;
                cells[place] = Some(side);
                x += 1;
            }
            if x != SIZE {
                return Err(format!("rank {} has {} cells", 8 - row, x));
            }
        }
        Ok(Board { cells, turn })
    }

    /// A piece moves as many cells as there are pieces on its line, over its own but not over the other's.
    fn legal(&self) -> Vec<Move> {
        let mut found = Vec::new();
        for from in (0..64).filter(|&c| self.cells[c] == Some(self.turn)) {
            let (x, y) = (from as i32 % SIZE, from as i32 / SIZE);
            for (dx, dy) in AXES {
                let on_line = |n: i32| cell(x + n * dx, y + n * dy);
                let count = (1 - SIZE..SIZE)
                    .filter_map(on_line)
                    .filter(|&c| self.cells[c].is_some())
                    .count() as i32;
                for way in [1, -1] {
                    let Some(to) = on_line(way * count) else { continue };
                    let blocked = (1..count)
                        .filter_map(|n| on_line(way * n))
                        .any(|c| self.cells[c] == Some(self.turn.other()));
                    if !blocked && self.cells[to] != Some(self.turn) {
                        found.push(Some((from, to)));
                    }
                }
            }
        }
        if found.is_empty() {
            found.push(None);
        }
        found
    }

    fn play(&self, m: Move) -> Board {
        let mut after = self.clone();
        if let Some((from, to)) = m {
            after.cells[to] = after.cells[from].take();
        }
        after.turn = self.turn.other();
        after
    }

    fn pieces(&self, side: Side) -> Vec<usize> {
        (0..64).filter(|&c| self.cells[c] == Some(side)).collect()
    }

    /// Whether the pieces of a side are one group of touching pieces.
    fn is_connected(&self, side: Side) -> bool {
        let mut rest = self.pieces(side);
        let mut group: Vec<usize> = rest.pop().into_iter().collect();
        while let Some(one) = group.pop() {
            let touches = |c: &usize| (c % 8).abs_diff(one % 8) <= 1 && (c / 8).abs_diff(one / 8) <= 1;
            let (near, far) = rest.into_iter().partition(touches);
            group.extend::<Vec<usize>>(near);
            rest = far;
        }
        rest.is_empty()
    }

    /// How far the pieces of a side stand apart: the sum of all distances between two of them.
    fn spread(&self, side: Side) -> usize {
        let pieces = self.pieces(side);
        let far = |a: usize, b: usize| (a % 8).abs_diff(b % 8).max((a / 8).abs_diff(b / 8));
        pieces
            .iter()
            .map(|&a| pieces.iter().map(|&b| far(a, b)).sum::<usize>())
            .sum()
    }

    fn best(&self) -> Move {
        let worth = |m: &Move| {
            let after = self.play(*m);
            match (
                after.is_connected(self.turn),
                after.is_connected(self.turn.other()),
            ) {
                (true, false) => (0, 0),
                (true, true) => (2, 0),  // a draw
                (false, true) => (3, 0), // the last stray piece of the other taken
                (false, false) => (1, after.spread(self.turn)),
            }
        };
        self.legal().into_iter().min_by_key(worth).flatten()
    }
}

/// `startpos [moves ...]` or `fen <position> [moves ...]`.
fn set_position(rest: &str) -> Result<Board, String> {
    let (start, moves) = rest.split_once("moves").unwrap_or((rest, ""));
    let mut board = Board::read(start.trim().strip_prefix("fen ").unwrap_or(START))?;
    for word in moves.split_whitespace() {
        let played = board.legal().into_iter().find(|&m| write_move(m) == word);
        board = board.play(played.ok_or(format!("illegal move {word}"))?);
    }
    Ok(board)
}

fn main() -> io::Result<()> {
    let mut out = io::stdout();
    let mut board = set_position("startpos");
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (command, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match command {
            "ugi" => {
                writeln!(out, "id name loa_bot_rust\nid author the arena\nid family loa")?;
                writeln!(
                    out,
                    "option name Variant type combo default standard var standard\nugiok"
                )?;
            }
            "isready" => writeln!(out, "readyok")?,
            "position" => {
                board = set_position(rest);
                if let Err(problem) = &board {
                    writeln!(out, "info string error {problem}")?;
                }
            }
            "go" => match &board {
                Ok(board) => writeln!(out, "bestmove {}", write_move(board.best()))?,
                Err(_) => writeln!(out, "bestmove ------")?,
            },
            "quit" => break,
            _ => {} // what a bot does not know it ignores
        }
        out.flush()?; // after every line: the referee waits for it
    }
    Ok(())
}
