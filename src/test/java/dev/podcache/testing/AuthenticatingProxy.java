package dev.podcache.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * An HTTP proxy on 127.0.0.1 that answers 407 to whoever does not know its user and password. It stands for every host of the
 * world: each tunnel, and each single request, ends at one local port. Thread-safe.
 */
public final class AuthenticatingProxy implements AutoCloseable {

    private static final String ASK = String.join(
            "\r\n",
            "HTTP/1.1 407 Proxy Authentication Required",
            "Proxy-Authenticate: Basic realm=\"test\"",
            "Content-Length: 0",
            "",
            "");

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Queue<Closeable> open = new ConcurrentLinkedQueue<>();
    private final List<String> refused = new CopyOnWriteArrayList<>();
    private final List<String> passed = new CopyOnWriteArrayList<>();
    private final String credentials;
    private final int target;
    private final SSLContext tls;

    /**
     * Starts a proxy.
     *
     * @param target speaks HTTP without TLS
     * @param tls ends TLS inside of tunnels, without HTTP/2
     */
    public AuthenticatingProxy(int target, SSLContext tls, String user, String password) throws IOException {
        this.target = target;
        this.tls = tls;
        byte[] both = (user + ":" + password).getBytes(StandardCharsets.UTF_8);
        credentials = "Basic " + Base64.getEncoder().encodeToString(both);
        open.add(server);
        start(this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    /** Returns the first lines of the requests that were answered with 407. */
    public List<String> refused() {
        return List.copyOf(refused);
    }

    /** Returns the first lines of the requests for tunnels, and of the single requests, that were let through. */
    public List<String> passed() {
        return List.copyOf(passed);
    }

    private interface SocketTask {
        void run() throws IOException;
    }

    private static void start(SocketTask task) {
        NewThread.EACH.execute(() -> {
            try {
                task.run();
            } catch (IOException e) {
                // one of the two sides closed the connection
            }
        });
    }

    private void accept() throws IOException {
        while (true) {
            Socket near = server.accept();
            open.add(near);
            start(() -> {
                try (near) {
                    serve(near);
                }
            });
        }
    }

    private void serve(Socket near) throws IOException {
        forward(near, false);
    }

    private void forward(Socket near, boolean inTunnel) throws IOException {
        Socket far = null;
        try {
            while (true) {
                String head = head(near.getInputStream());
                String first = head.substring(0, head.indexOf('\r'));
                if (!inTunnel && !head.contains("\r\nproxy-authorization: " + credentials + "\r\n")) {
                    refused.add(first);
                    near.getOutputStream().write(ASK.getBytes(ISO_8859_1));
                    continue;
                }
                if (!inTunnel) {
                    passed.add(first);
                }
                if (first.startsWith("CONNECT ")) {
                    tunnel(near);
                    return;
                }
                if (far == null) {
                    far = dial();
                    Socket answers = far;
                    start(() -> pump(answers, near));
                }
                forward(head, near.getInputStream(), far.getOutputStream());
            }
        } finally {
            if (far != null) {
                far.close();
            }
        }
    }

    private Socket dial() throws IOException {
        Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
        open.add(far);
        return far;
    }

    private void tunnel(Socket near) throws IOException {
        near.getOutputStream().write("HTTP/1.1 200 Connection established\r\n\r\n".getBytes(ISO_8859_1));
        try (SSLSocket secured = (SSLSocket) tls.getSocketFactory().createSocket(near, null, true)) {
            secured.setUseClientMode(false);
            forward(secured, true);
        }
    }

    /** Forwards one request, whose first line may name the host too. The target is asked as itself. */
    private static void forward(String head, InputStream body, OutputStream to) throws IOException {
        String named = head.substring(head.indexOf(' ') + 1, head.indexOf(" HTTP/1.1"));
        String path = named.startsWith("/") ? named : named.substring(named.indexOf('/', "http://".length()));
        String asked = head.replace(named, path).replaceFirst("\r\nhost: [^\r]*", "\r\nhost: localhost");
        to.write(asked.getBytes(ISO_8859_1));
        int length = head.indexOf("\r\ncontent-length: ");
        if (length >= 0) {
            String number = head.substring(length + "\r\ncontent-length: ".length());
            to.write(body.readNBytes(Integer.parseInt(number.substring(0, number.indexOf('\r')))));
        }
        to.flush();
    }

    private static void pump(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        }
    }

    /** Reads a head, with the names of its headers in lower case. */
    private static String head(InputStream from) throws IOException {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        while (!read.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
            int next = from.read();
            if (next < 0) {
                throw new EOFException();
            }
            read.write(next);
        }
        StringBuilder lower = new StringBuilder();
        for (String line : read.toString(ISO_8859_1)
                .lines()
                .filter(each -> !each.isEmpty())
                .toList()) {
            int colon = lower.length() == 0 ? -1 : line.indexOf(':');
            lower.append(colon < 0 ? line : line.substring(0, colon).toLowerCase(Locale.ROOT) + line.substring(colon))
                    .append("\r\n");
        }
        return lower.append("\r\n").toString();
    }

    @Override
    public void close() throws IOException {
        for (Closeable each : open) {
            each.close();
        }
    }
}
