package dev.podcache.cli.config;

import java.security.Security;

/** Sets how long the JVM caches the addresses of host names. */
public final class AddressLookups {

    private static final String PROPERTY = "networkaddress.cache.ttl";
    private static final String OLDER_PROPERTY = "sun.net.inetaddr.ttl";
    private static final String SECONDS = "1";

    private AddressLookups() {}

    /**
     * Sets the cache time to one second, unless a property of the JVM sets it. Must be called before the first lookup,
     * because the JVM reads the setting once.
     *
     * <p>By default the JVM caches an address for 30 s. If the API server moves just after a lookup of its old address,
     * no heartbeat would reach it for that time, and a Lease of 40 s would expire. One second is enough for many
     * connections that are opened together to share a lookup.
     */
    public static void setShortTtl() {
        if (Security.getProperty(PROPERTY) == null && System.getProperty(OLDER_PROPERTY) == null) {
            Security.setProperty(PROPERTY, SECONDS);
        }
    }
}
