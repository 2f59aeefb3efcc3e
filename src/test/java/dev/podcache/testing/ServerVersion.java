package dev.podcache.testing;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of an API server, and what the answers of API servers of that version look like where versions differ.
 * Known are 1.20 and 1.36; where it is not known which version between them changed something, every version after 1.20
 * counts as changed.
 *
 * @param text as the server says it, such as {@code v1.36.4}
 */
public record ServerVersion(int major, int minor, String text) {

    private static final Pattern VERSION = Pattern.compile("v?(\\d+)\\.(\\d+)\\S*");

    /** What the embedded server imitates. */
    public static final ServerVersion OF_EMBEDDED = parse("v1.20.2");

    private static final int OLDEST_KNOWN = 20;
    private static final int BAD_REQUEST = 400;
    private static final int UNPROCESSABLE = 422;
    private static final int SERVER_ERROR = 500;

    /**
     * Reads a version.
     *
     * @param text such as {@code v1.36.4}, {@code 1.20.2-linux-amd64}
     * @throws IllegalArgumentException if it is no version
     */
    public static ServerVersion parse(String text) {
        Matcher version = VERSION.matcher(text);
        if (!version.matches()) {
            throw new IllegalArgumentException("no version of an API server: \"" + text + "\"");
        }
        return new ServerVersion(Integer.parseInt(version.group(1)), Integer.parseInt(version.group(2)), text);
    }

    /** Whether it is 1.{@code minor} or newer. */
    public boolean isAtLeast(int minor) {
        return major > 1 || this.minor >= minor;
    }

    /** How many streams an HTTP/2 connection may have unless a flag says otherwise. */
    public int defaultStreamLimit() {
        return isAtLeast(29) ? 100 : 250;
    }

    /** The metric that counts open watches. */
    public String watchGauge() {
        return isAtLeast(23) ? "apiserver_longrunning_requests" : "apiserver_longrunning_gauge";
    }

    /** The status of a read or a list from a {@code resourceVersion} that is no number, and how its message begins. */
    public String versionThatIsNoNumber(boolean oneObject) {
        String complaint = "resourceVersion: Invalid value: ";
        return isNewerThanKnown() && !oneObject
                ? BAD_REQUEST + " invalid resource version: " + complaint
                : SERVER_ERROR + " " + complaint;
    }

    /** The status and reason of a patch that is no patch in its language, though it is JSON. */
    public String patchOfWrongShape() {
        return isNewerThanKnown() ? BAD_REQUEST + " BadRequest" : UNPROCESSABLE + " Invalid";
    }

    /** Whether the status of a pod may name all addresses of its node. */
    public boolean keepsHostIps() {
        return isAtLeast(29);
    }

    /** Whether pods get the volume with the token and the root certificate of their service account without a flag. */
    public boolean mountsTokenVolumes() {
        return isAtLeast(21);
    }

    /** Whether a request of somebody unknown makes the server ask for no more streams on its connection (GOAWAY). */
    public boolean turnsStrangersAway() {
        return isAtLeast(29);
    }

    private boolean isNewerThanKnown() {
        return isAtLeast(OLDEST_KNOWN + 1);
    }

    @Override
    public String toString() {
        return text;
    }
}
