import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The client of tablut_threads.py in Java, without a library: `java TablutThreads ROLE SECONDS SERVER`. */
public class TablutThreads {
    private static final Set<String> CAMPS =
            Set.of("d1 e1 f1 e2 a4 a5 a6 b5 i4 i5 i6 h5 d9 e9 f9 e8".split(" "));
    private static final Pattern WORD = Pattern.compile("\"(EMPTY|WHITE|BLACK|KING|THRONE)\"");
    private static final Pattern TURN = Pattern.compile("\"turn\"\\s*:\\s*\"(\\w+)\"");
    private static final LinkedBlockingQueue<String> STATES = new LinkedBlockingQueue<>();

    private static void write(DataOutputStream out, String text) throws Exception {
        byte[] data = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(data.length);
        out.write(data, 0, data.length);
        out.flush();
    }

    private static void listen(DataInputStream in) {
        try {
            while (true) {
                byte[] data = new byte[in.readInt()];
                in.readFully(data);
                STATES.put(new String(data, StandardCharsets.UTF_8));
            }
        } catch (EOFException ended) {
            STATES.add("{\"turn\":\"GONE\"}");
        } catch (Exception broken) {
            broken.printStackTrace();
            STATES.add("{\"turn\":\"GONE\"}");
        }
    }

    private static String turn(String state) {
        Matcher found = TURN.matcher(state);
        if (!found.find()) {
            throw new IllegalArgumentException(state);
        }
        return found.group(1);
    }

    private static String choose(String state, String role) {
        List<String> cells = new ArrayList<>();
        Matcher words = WORD.matcher(state.substring(0, state.indexOf("\"turn\"")));
        while (words.find()) {
            cells.add(words.group(1));
        }
        for (int from = 80; from >= 0; from--) {
            String piece = cells.get(from);
            if (!piece.equals(role) && !(role.equals("WHITE") && piece.equals("KING"))) {
                continue;
            }
            for (int[] step : new int[][] {{0, 1}, {1, 0}, {0, -1}, {-1, 0}}) {
                int row = from / 9 + step[0];
                int column = from % 9 + step[1];
                if (row < 0 || row > 8 || column < 0 || column > 8 || !cells.get(9 * row + column).equals("EMPTY")) {
                    continue;
                }
                String to = name(row, column);
                if (!CAMPS.contains(to)) {
                    return "{\"from\":\"" + name(from / 9, from % 9) + "\",\"to\":\"" + to + "\",\"turn\":\"" + role + "\"}";
                }
            }
        }
        throw new IllegalStateException(role + " has no move");
    }

    private static String name(int row, int column) {
        return "" + (char) ('a' + column) + (row + 1);
    }

    public static void main(String[] words) throws Exception {
        String role = words[0];
        String ports = System.getenv().getOrDefault("TABLUT_PORTS", "5800,5801");
        Socket socket = new Socket(words[2], Integer.parseInt(ports.split(",")[role.equals("WHITE") ? 0 : 1]));
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        DataInputStream in = new DataInputStream(socket.getInputStream());
        write(out, "\"threads in Java\"");
        Thread reader = new Thread(() -> listen(in));
        reader.setDaemon(true);
        reader.start();
        for (String state = STATES.take(); !turn(state).equals("GONE"); state = STATES.take()) {
            System.out.println(role + " got a state, to move is " + turn(state));
            if (turn(state).equals(role)) {
                write(out, choose(state, role));
            } else if (turn(state).endsWith("WIN") || turn(state).equals("DRAW")) {
                System.err.println(role + " heard " + turn(state));
                break;
            }
        }
        System.exit(0);
    }
}
