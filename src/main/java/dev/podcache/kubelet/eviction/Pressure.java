package dev.podcache.kubelet.eviction;

import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides whether the node is under one kind of pressure. Pressure begins when a threshold is met, and ends when no
 * threshold has been met for the transition period. So the condition does not flap while a value oscillates around its
 * threshold. Each call reads the machine. Not thread-safe. After upstream's eviction manager (synchronize,
 * nodeConditionsObservedSince).
 */
public final class Pressure implements BooleanSupplier {

    private static final Logger log = LoggerFactory.getLogger(Pressure.class);

    private final PressureType type;
    private final EvictionThresholds thresholds;
    private final HostFacts facts;
    private final Timekeeper timekeeper;
    private final long transitionNanos;
    private final Set<EvictionSignal> unreadable = EnumSet.noneOf(EvictionSignal.class);
    private @Nullable Long lastMet;

    public Pressure(PressureType type, EvictionThresholds thresholds, HostFacts facts, Transition transition) {
        this.type = type;
        this.thresholds = thresholds;
        this.facts = facts;
        this.timekeeper = transition.timekeeper();
        this.transitionNanos = transition.period().toNanos();
    }

    /** The time that pressure continues after the last met threshold, and the clock that measures it. */
    public record Transition(Duration period, Timekeeper timekeeper) {}

    @Override
    public boolean getAsBoolean() {
        long now = timekeeper.nanoTime();
        if (type.signals().stream().anyMatch(this::isMet)) {
            lastMet = now;
            return true;
        }
        return lastMet != null && now - lastMet < transitionNanos;
    }

    private boolean isMet(EvictionSignal signal) {
        EvictionThreshold threshold = thresholds.of(signal).orElse(null);
        if (threshold == null) {
            return false;
        }
        Optional<Supply> supply = signal.read(facts);
        if (supply.isPresent()) {
            unreadable.remove(signal);
        } else if (unreadable.add(signal)) {
            log.warn("{} cannot be read on this machine; its eviction threshold {} is ignored", signal, threshold);
        }
        return supply.map(threshold::isMet).orElse(false);
    }
}
