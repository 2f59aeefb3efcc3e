package dev.podcache.object;

import com.google.common.collect.ImmutableList;

/**
 * A library that Podcache uses and does not bring: what else is on the class path decides its version, such as the version of
 * fabric8's client.
 *
 * @hidden
 */
@NotApi
public enum OptionalLibrary {

    /** Sends every request, and serves the endpoints of a node. */
    NETTY(
            "Netty is not on the class path, and Podcache sends its requests with it. fabric8's default HTTP client brings it."
                    + " With another, such as OkHttp, add the dependencies io.netty:netty-codec-http2 and"
                    + " io.netty:netty-handler-proxy, of one version of Netty 4.1 or 4.2.",
            "io.netty.handler.codec.http2.Http2ConnectionHandler",
            "io.netty.handler.proxy.HttpProxyHandler"),

    /** Serves the embedded API server. */
    VERTX(
            "Vert.x is not on the class path, and the embedded API server uses it. fabric8's default HTTP client brings it."
                    + " With another, such as OkHttp, add the dependency io.vertx:vertx-core, of Vert.x 4.5 or 5.",
            "io.vertx.core.Vertx"),

    /** Reads the facts of this machine. */
    OSHI(
            "OSHI is not on the class path, and HostFacts.ofThisMachine reads the machine with it. Add the dependency"
                    + " com.github.oshi:oshi-core, or give the node agent facts of your own.",
            "oshi.SystemInfo");

    private final String message;
    private final ImmutableList<String> classes;

    OptionalLibrary(String message, String... classes) {
        this.message = message;
        this.classes = ImmutableList.copyOf(classes);
    }

    /**
     * Checks that this library is there. Called before the first class that uses it is loaded, which else would fail without
     * saying what to add.
     *
     * @throws IllegalStateException if it is not; the message names the dependency to add
     */
    public void require() {
        for (String each : classes) {
            try {
                Class.forName(each, false, OptionalLibrary.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(message, e);
            }
        }
    }
}
