package dev.podcache.apiserver.fabric8;

/**
 * The client-side limit of requests per second, like the kubelet's {@code kubeAPIQPS} and {@code kubeAPIBurst}. Reads
 * and writes count; watches, the lists before them, and heartbeats do not. Immutable.
 *
 * @param perSecond the average number of requests per second
 * @param burst the number of requests that may be sent at once after a pause
 */
public record RequestLimit(double perSecond, int burst) {

    /** The kubelet's defaults: 50 requests per second, bursts of 100. */
    public static final RequestLimit DEFAULT = new RequestLimit(50, 100);

    /** No limit: for programs that make the requests of many nodes, or few requests in all. */
    public static final RequestLimit UNLIMITED = new RequestLimit(Integer.MAX_VALUE, Integer.MAX_VALUE);

    /**
     * Creates a limit.
     *
     * @throws IllegalArgumentException if {@code perSecond} is not positive and finite, or {@code burst} is less than 1
     */
    public RequestLimit {
        if (!(perSecond > 0) || Double.isInfinite(perSecond) || burst < 1) {
            throw new IllegalArgumentException("the rate must be positive and finite and the burst at least 1, but the"
                    + " limit is " + perSecond + " requests per second with a burst of " + burst);
        }
    }
}
