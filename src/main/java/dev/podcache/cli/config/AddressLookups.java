package dev.podcache.cli.config;

import java.security.Security;

/** How long the process remembers what a name's address is. */
public final class AddressLookups {

    private static final String PROPERTY = "networkaddress.cache.ttl";
    private static final String OLDER_PROPERTY = "sun.net.inetaddr.ttl";
    private static final String SECONDS = "1";

    private AddressLookups() {}

    /**
     * Has addresses looked up anew after a second, unless whoever started the JVM decided otherwise. To be called
     * before anything is looked up, for the JVM reads the setting once.
     *
     * <p>By itself the JVM remembers an address for 30 s. If the API server moves just after its old address was looked
     * up again, which is what broken connections lead to, no heartbeat would find it for that long, and a lease of 40 s
     * would lapse. A second is enough for many connections that are made together to have one lookup in common.
     */
    public static void setShortTtl() {
        if (Security.getProperty(PROPERTY) == null && System.getProperty(OLDER_PROPERTY) == null) {
            Security.setProperty(PROPERTY, SECONDS);
        }
    }
}
