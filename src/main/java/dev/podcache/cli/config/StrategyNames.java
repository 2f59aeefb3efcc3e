package dev.podcache.cli.config;

import com.google.common.collect.Iterators;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.util.Iterator;
import java.util.Locale;

/** The names of the strategies in the kubelet's configuration: {@code Get}, {@code Cache} and {@code Watch}. */
public final class StrategyNames implements Iterable<String> {

    /** Called by picocli. */
    public StrategyNames() {}

    @Override
    public Iterator<String> iterator() {
        return Iterators.transform(Iterators.forArray(ChangeDetectionStrategy.values()), StrategyNames::of);
    }

    static String of(ChangeDetectionStrategy strategy) {
        return strategy.name().charAt(0) + strategy.name().substring(1).toLowerCase(Locale.ROOT);
    }
}
