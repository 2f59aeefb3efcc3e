package dev.podcache.apiserver.fabric8;

/**
 * How many requests we may send, as the kubelet's {@code kubeAPIQPS} and {@code kubeAPIBurst}. Reads and writes count;
 * watches, the lists before them, and heartbeats do not. Immutable.
 *
 * @param perSecond in the long run
 * @param burst at once, after a quiet time
 */
public record RequestLimit(double perSecond, int burst) {

    /** The kubelet's defaults: 50 a second, 100 at once. */
    public static final RequestLimit DEFAULT = new RequestLimit(50, 100);

    /**
     * A limit.
     *
     * @throws IllegalArgumentException unless {@code perSecond} is a positive finite number and
     *     {@code burst} at least 1
     */
    public RequestLimit {
        if (!(perSecond > 0) || Double.isInfinite(perSecond) || burst < 1) {
            throw new IllegalArgumentException("a limit of " + perSecond + " requests per second with a burst of "
                    + burst + " lets nothing through: the rate must be a positive finite number, the burst at least 1");
        }
    }
}
