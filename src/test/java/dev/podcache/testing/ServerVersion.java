package dev.podcache.testing;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of an API server, and the behaviour that differs between versions. Known are 1.20, 1.36, and the
 * {@linkplain #isStandIn() stand-in} on the API server library of 1.36. Where the version of a change between them is
 * unknown, every version after 1.20 counts as changed.
 *
 * @param text the version as the server reports it, such as {@code v1.36.4}
 */
public record ServerVersion(int major, int minor, String text) {

    /** The end of the version that a stand-in reports. */
    static final String STAND_IN = "-library-standin";

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

    /**
     * Returns whether the server is no kube-apiserver, but a server on the API server library of Kubernetes, with
     * kinds of its own. It lacks some {@linkplain ServerFeature features}, and has the libraries that it was built
     * with, which need not be those of a kube-apiserver.
     */
    public boolean isStandIn() {
        return text.endsWith(STAND_IN);
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

    /** Returns the status code and reason for a JSON patch with an unknown operation. */
    public String patchWithUnknownOperation() {
        return isStandIn() ? BAD_REQUEST + " BadRequest" : UNPROCESSABLE + " Invalid";
    }

    /** Returns the status code and reason for a merge patch that is an array. */
    public String mergePatchThatIsAnArray() {
        return isNewerThanKnown() ? BAD_REQUEST + " BadRequest" : UNPROCESSABLE + " Invalid";
    }

    /** Returns how a message quotes a resourceVersion that is missing. */
    public String missingVersion() {
        return isNewerThanKnown() ? "0" : "0x0";
    }

    /** Returns how a message says that data has more than {@code bytes}. */
    public String tooLong(int bytes) {
        return "Too long: " + (isNewerThanKnown() ? "may not be more than " : "must have at most ") + bytes + " bytes";
    }

    /**
     * Returns whether the server has streamed lists by default: a watch that begins with the objects. It needs no verb
     * but {@code watch}.
     */
    public boolean streamsLists() {
        return isAtLeast(34) || (isAtLeast(32) && !isAtLeast(33));
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
