package dev.podcache.kubelet.eviction;

import dev.podcache.kubelet.host.Quantities;
import io.fabric8.kubernetes.api.model.Quantity;

/** Amounts as quantities, as upstream's messages have them. */
final class ResourceText {

    private ResourceText() {}

    /** Returns an amount in powers of 1024, such as {@code 1500Mi}. */
    static String bytes(long amount) {
        return text(Quantities.of("memory", amount));
    }

    /** Returns an amount in powers of 1000, such as {@code 15k}. */
    static String count(long amount) {
        return text(Quantities.of("pids", amount));
    }

    /** Returns an amount as this resource is written. */
    static String of(String resource, long amount) {
        boolean binary = resource.equals("memory") || resource.equals("ephemeral-storage");
        return binary ? bytes(amount) : count(amount);
    }

    /** Returns a quantity with its suffix. */
    static String text(Quantity quantity) {
        return quantity.getAmount() + quantity.getFormat();
    }
}
