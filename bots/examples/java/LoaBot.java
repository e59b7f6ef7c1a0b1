import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A bot for Lines of Action (8x8, the standard rules) in plain Java: one file, no library.
 *
 * It wins when it can win at once; else it makes the move after which its own pieces stand closest together. It answers
 * at once, so clocks and `stop` need no attention.
 */
final class LoaBot {
    private static final String START = "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1";
    private static final int SIZE = 8;
    private static final int EMPTY = -1;
    private static final int BLACK = 0;
    private static final int WHITE = 1;
    /** Half of the directions of a queen; the other half are their opposites. */
    private static final int[][] AXES = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};

    /** A source and a target cell, each rank * 8 + file; a pass goes from -1 to -1. */
    private record Move(int from, int to) {
        static final Move PASS = new Move(-1, -1);

        private static String name(int cell) {
            return "" + (char) ('a' + cell % SIZE) + (cell / SIZE + 1);
        }

        @Override
        public String toString() {
            return from < 0 ? "pass" : name(from) + name(to);
        }
    }

    /** A position; nothing changes it. */
    private record Board(int[] cells, int turn) {
        /** Read "board side ...": ranks from the top, digits for runs of empty cells. */
        static Board read(String text) {
            String[] fields = text.trim().split("\\s+");
            String[] ranks = fields[0].split("/");
            if (ranks.length != SIZE || fields.length < 2 || !fields[1].matches("[bw]")) {
                throw new IllegalArgumentException("no position of this bot's");
            }
            int[] cells = new int[SIZE * SIZE];
            Arrays.fill(cells, EMPTY);
            for (int row = 0; row < SIZE; row++) {
                int x = 0;
                for (char letter : ranks[row].toCharArray()) {
                    if (letter >= '1' && letter <= '8') {
                        x += letter - '0';
                    } else if ((letter == 'b' || letter == 'w') && x < SIZE) {
                        cells[(SIZE - 1 - row) * SIZE + x++] = letter == 'b' ? BLACK : WHITE;
                    } else {
                        throw new IllegalArgumentException("unreadable rank " + ranks[row]);
                    }
                }
                if (x != SIZE) {
                    throw new IllegalArgumentException("rank " + ranks[row] + " has " + x + " cells");
                }
            }
            return new Board(cells, fields[1].equals("b") ? BLACK : WHITE);
        }

        private static int cell(int x, int y) {
            return x < 0 || x >= SIZE || y < 0 || y >= SIZE ? -1 : y * SIZE + x;
        }

        /** A piece moves as many cells as there are pieces on its line, over its own but not over the other's. */
        List<Move> legal() {
            List<Move> found = new ArrayList<>();
            for (int from : pieces(turn)) {
                for (int[] axis : AXES) {
                    int count = 0;
                    for (int n = 1 - SIZE; n < SIZE; n++) {
                        int cell = cell(from % SIZE + n * axis[0], from / SIZE + n * axis[1]);
                        count += cell >= 0 && cells[cell] != EMPTY ? 1 : 0;
                    }
                    for (int way = -1; way <= 1; way += 2) {
                        int dx = way * axis[0], dy = way * axis[1];
                        int to = cell(from % SIZE + count * dx, from / SIZE + count * dy);
                        boolean isOpen = to >= 0 && cells[to] != turn;
                        for (int n = 1; isOpen && n < count; n++) {
                            isOpen = cells[cell(from % SIZE + n * dx, from / SIZE + n * dy)] != 1 - turn;
                        }
                        if (isOpen) {
                            found.add(new Move(from, to));
                        }
                    }
                }
            }
            return found.isEmpty() ? List.of(Move.PASS) : found;
        }

        Board play(Move move) {
            int[] after = cells.clone();
            if (move.from() >= 0) {
                after[move.to()] = turn;
                after[move.from()] = EMPTY;
            }
            return new Board(after, 1 - turn);
        }

        private List<Integer> pieces(int side) {
            List<Integer> found = new ArrayList<>();
            for (int cell = 0; cell < cells.length; cell++) {
                if (cells[cell] == side) {
                    found.add(cell);
                }
            }
            return found;
        }

        private static int distance(int a, int b) {
            return Math.max(Math.abs(a % SIZE - b % SIZE), Math.abs(a / SIZE - b / SIZE));
        }

        /** Whether the pieces of a side are one group of touching pieces. */
        boolean isConnected(int side) {
            List<Integer> rest = pieces(side);
            ArrayDeque<Integer> group = new ArrayDeque<>();
            if (!rest.isEmpty()) {
                group.add(rest.remove(rest.size() - 1));
            }
            while (!group.isEmpty()) {
                int one = group.poll();
                for (int other : List.copyOf(rest)) {
                    if (distance(one, other) == 1) {
                        rest.remove(Integer.valueOf(other));
                        group.add(other);
                    }
                }
            }
            return rest.isEmpty();
        }

        /** The lower the better: a win, then pieces close together, then a draw, then a loss. */
        private int worth(Move move) {
            Board after = play(move);
            boolean own = after.isConnected(turn), others = after.isConnected(1 - turn);
            if (own || others) {
                return others ? own ? 1_000_000 : 2_000_000 : -1;
            }
            int spread = 0;
            for (int a : after.pieces(turn)) {
                for (int b : after.pieces(turn)) {
                    spread += distance(a, b);
                }
            }
            return spread;
        }

        Move best() {
            Move best = null;
            for (Move move : legal()) {
                best = best == null || worth(move) < worth(best) ? move : best;
            }
            return best;
        }
    }

    private LoaBot() {}

    /** "startpos [moves ...]" or "fen position [moves ...]". */
    private static Board position(String rest) {
        String[] parts = rest.split("\\bmoves\\b", 2);
        String start = parts[0].trim();
        Board board = Board.read(start.startsWith("fen ") ? start.substring(4) : START);
        for (String word : parts.length > 1 ? parts[1].trim().split("\\s+") : new String[0]) {
            Board before = board;
            if (!word.isEmpty()) {
                board = before.legal().stream().filter(move -> move.toString().equals(word)).findFirst()
                    .map(before::play).orElseThrow(() -> new IllegalArgumentException("illegal move " + word));
            }
        }
        return board;
    }

    private static void say(String text) {
        System.out.print(text + "\n");
        System.out.flush(); // after every line: the referee waits for it
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Board board = Board.read(START);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.trim().split("\\s+", 2);
            switch (words[0]) {
                case "ugi" -> say("id name loa_bot_java\nid author the arena\nid family loa\n"
                    + "option name Variant type combo default standard var standard\nugiok");
                case "isready" -> say("readyok");
                case "position" -> {
                    try {
                        board = position(words.length > 1 ? words[1] : "");
                    } catch (IllegalArgumentException problem) {
                        board = null;
                        say("info string error " + problem.getMessage());
                    }
                }
                case "go" -> say("bestmove " + (board == null ? "------" : board.best()));
                case "quit" -> {
                    return;
                }
                default -> {} // what a bot does not know it ignores
            }
        }
    }
}
