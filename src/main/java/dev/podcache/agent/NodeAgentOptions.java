package dev.podcache.agent;

import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;

/**
 * How an agent works.
 *
 * @param node whose pods it registers
 * @param strategy of the caches
 * @param syncPeriod how often it reads what each pod refers to
 * @param progressPeriod how often it tells how much it read
 */
record NodeAgentOptions(String node, ChangeDetectionStrategy strategy, Duration syncPeriod, Duration progressPeriod) {}
