package dev.podcache.testing;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of an API server, and the behaviour that differs between versions. Known are 1.20 and 1.36. Where the
 * version of a change between them is unknown, every version after 1.20 counts as changed.
 *
 * @param text the version as the server reports it, such as {@code v1.36.4}
 */
public record ServerVersion(int major, int minor, String text) {

    private static final Pattern VERSION = Pattern.compile("v?(\\d+)\\.(\\d+)\\S*");

    /** The version that the embedded server imitates. */
    public static final ServerVersion OF_EMBEDDED = parse("v1.20.2");

    private static final int OLDEST_KNOWN = 20;
    private static final int BAD_REQUEST = 400;
    private static final int UNPROCESSABLE = 422;
    private static final int SERVER_ERROR = 500;

    /**
     * Parses a version.
     *
     * @param text such as {@code v1.36.4}, {@code 1.20.2-linux-amd64}
     * @throws IllegalArgumentException if {@code text} is not a version
     */
    public static ServerVersion parse(String text) {
        Matcher version = VERSION.matcher(text);
        if (!version.matches()) {
            throw new IllegalArgumentException("not a version of an API server: \"" + text + "\"");
        }
        return new ServerVersion(Integer.parseInt(version.group(1)), Integer.parseInt(version.group(2)), text);
    }

    /** Returns whether the version is 1.{@code minor} or newer. */
    public boolean isAtLeast(int minor) {
        return major > 1 || this.minor >= minor;
    }

    /** Returns the default limit of concurrent streams per HTTP/2 connection. */
    public int defaultStreamLimit() {
        return isAtLeast(29) ? 100 : 250;
    }

    /** Returns the name of the metric that counts open watches. */
    public String watchGauge() {
        return isAtLeast(23) ? "apiserver_longrunning_requests" : "apiserver_longrunning_gauge";
    }

    /**
     * Returns the status code, and the start of the message, of a read or list with a malformed
     * {@code resourceVersion}.
     */
    public String versionThatIsNoNumber(boolean oneObject) {
        String complaint = "resourceVersion: Invalid value: ";
        return isNewerThanKnown() && !oneObject
                ? BAD_REQUEST + " invalid resource version: " + complaint
                : SERVER_ERROR + " " + complaint;
    }

    /** Returns the status code and reason for a patch that is valid JSON but malformed for its type. */
    public String patchOfWrongShape() {
        return isNewerThanKnown() ? BAD_REQUEST + " BadRequest" : UNPROCESSABLE + " Invalid";
    }

    /** Returns whether the status of a pod may contain all addresses of its node. */
    public boolean keepsHostIps() {
        return isAtLeast(29);
    }

    /** Returns whether pods get the volume with the token and root certificate of their service account by default. */
    public boolean mountsTokenVolumes() {
        return isAtLeast(21);
    }

    /** Returns whether the server closes the connection of an unauthenticated client to new streams (GOAWAY). */
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
