package dev.podcache.kubelet.server;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The request line and the headers of a request, checked before anything else reads them. What two programs could read in
 * two ways, such as two lengths of one body, is refused, after RFC 9112. Immutable.
 *
 * @param contentLength the length of the body; 0 if there is none, or if it is chunked
 * @param chunked whether the body has the transfer coding {@code chunked}
 * @param keepsAlive whether the client may send a further request on the connection
 */
record RequestHead(long contentLength, boolean chunked, boolean keepsAlive) {

    /** Clients of a kubelet send about ten. */
    static final int MOST_LINES = 256;

    /** No endpoint reads the body of a request. */
    static final int LONGEST_BODY = 64 << 10;

    private static final Pattern REQUEST_LINE =
            Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} [^\\x00-\\x20\\x7f]+ HTTP/\\d\\.\\d");
    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    private static final Pattern PROHIBITED = Pattern.compile("[\\x00-\\x08\\x0a-\\x1f\\x7f]");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._~!$&'()*+,;=%:\\[\\]-]*");
    private static final Pattern LENGTH = Pattern.compile("\\d{1,18}");

    /** Collects what the lines say. */
    private static final class HeadLines {
        private final boolean http10;
        private final List<String> hosts = new ArrayList<>();
        private final List<String> lengths = new ArrayList<>();
        private final List<String> codings = new ArrayList<>();
        private boolean upgrade;
        private boolean close;
        private boolean keepAlive;

        HeadLines(boolean http10) {
            this.http10 = http10;
        }

        void add(String line) {
            if (line.startsWith(" ") || line.startsWith("\t")) {
                throw bad("a header is folded into a further line");
            }
            int colon = line.indexOf(':');
            if (colon < 0 || !NAME.matcher(line.substring(0, colon)).matches()) {
                throw bad("a line of the headers has no valid name");
            }
            if (PROHIBITED.matcher(line.substring(colon + 1)).find()) {
                throw bad("the value of a header has a prohibited character");
            }
            String value = line.substring(colon + 1).strip();
            switch (line.substring(0, colon).toLowerCase(Locale.ROOT)) {
                case "host" -> hosts.add(value);
                case "content-length" -> lengths.add(value);
                case "transfer-encoding" -> codings.add(value);
                case "upgrade" -> upgrade = true;
                // whether the body follows is not known
                case "expect" -> close = true;
                case "connection" -> connection(value.toLowerCase(Locale.ROOT));
                default -> {}
            }
        }

        private void connection(String value) {
            close |= value.contains("close");
            keepAlive |= value.contains("keep-alive");
        }

        RequestHead head() {
            if (hosts.size() > 1) {
                throw bad("there is more than one header Host");
            }
            if (!hosts.isEmpty() && !HOST.matcher(hosts.get(0)).matches()) {
                throw bad("the header Host is not valid");
            }
            boolean chunked = isChunked();
            long length = length();
            if (upgrade && (chunked || length > 0)) {
                throw bad("a request with the header Upgrade must have no body");
            }
            return new RequestHead(length, chunked, !close && (!http10 || keepAlive));
        }

        private boolean isChunked() {
            if (codings.isEmpty()) {
                return false;
            }
            if (http10 || !lengths.isEmpty()) {
                throw bad("the header Transfer-Encoding is not allowed in HTTP/1.0 or beside Content-Length");
            }
            if (codings.size() > 1 || !codings.get(0).equalsIgnoreCase("chunked")) {
                throw bad("the only Transfer-Encoding that is supported is chunked");
            }
            return true;
        }

        private long length() {
            if (lengths.isEmpty()) {
                return 0;
            }
            if (lengths.size() > 1 || !LENGTH.matcher(lengths.get(0)).matches()) {
                throw bad("the header Content-Length is not one number");
            }
            long length = Long.parseLong(lengths.get(0));
            if (length > LONGEST_BODY) {
                throw new RefusedException(413, "no request needs a body of more than " + LONGEST_BODY + " bytes");
            }
            return length;
        }
    }

    /**
     * Reads the head of a request, up to the empty line.
     *
     * @throws RefusedException if it is not valid; the message quotes nothing of it, which may be secret
     */
    static RequestHead parse(byte[] bytes) {
        String[] lines = new String(bytes, StandardCharsets.ISO_8859_1).split("\r\n", -1);
        if (!REQUEST_LINE.matcher(lines[0]).matches()) {
            throw bad("the request line is not valid");
        }
        String version = lines[0].substring(lines[0].lastIndexOf(' ') + 1);
        if (!version.equals("HTTP/1.1") && !version.equals("HTTP/1.0")) {
            throw new RefusedException(505, "only HTTP/1.1 is supported");
        }
        HeadLines read = new HeadLines(version.equals("HTTP/1.0"));
        for (int i = 1; i < lines.length && !lines[i].isEmpty(); i++) {
            read.add(lines[i]);
        }
        return read.head();
    }

    private static RefusedException bad(String why) {
        return new RefusedException(400, "the request cannot be read: " + why);
    }
}
