package dev.podcache.controlplane.ttl;

import com.google.common.collect.ImmutableList;

/**
 * How long the agents of a cluster may use a Secret or ConfigMap before they read it again: the longer, the more nodes
 * there are. The steps overlap, so that a cluster whose size varies around a limit keeps its TTL. A change of one node
 * moves by one step at most. Immutable.
 */
public final class TtlLadder {

    /**
     * A step.
     *
     * @param min with fewer nodes, the step before is right
     * @param max with more nodes, the step after is right
     */
    private record Rung(int min, int max, int seconds) {}

    /** As pkg/controller/ttl of Kubernetes. Until 1.20 there was a sixth step, of 600 s from 9,000 nodes on. */
    private static final ImmutableList<Rung> STEPS = ImmutableList.of(
            new Rung(0, 100, 0),
            new Rung(90, 500, 15),
            new Rung(450, 1_000, 30),
            new Rung(900, 2_000, 60),
            new Rung(1_800, Integer.MAX_VALUE, 300));

    /** A cluster without nodes. */
    public static final TtlLadder EMPTY = new TtlLadder(0, 0);

    private final int nodes;
    private final int step;

    private TtlLadder(int nodes, int step) {
        this.nodes = nodes;
        this.step = step;
    }

    /** Returns a ladder in a given state, for tests. */
    static TtlLadder of(int nodes, int step) {
        return new TtlLadder(nodes, step);
    }

    /** Returns the ladder after a node was added. */
    public TtlLadder nodeAdded() {
        int more = nodes + 1;
        return new TtlLadder(more, more > STEPS.get(step).max() ? step + 1 : step);
    }

    /** Returns the ladder after a node was removed. */
    public TtlLadder nodeRemoved() {
        int less = Math.max(0, nodes - 1);
        return new TtlLadder(less, less < STEPS.get(step).min() ? step - 1 : step);
    }

    /** Returns the number of nodes. */
    public int nodes() {
        return nodes;
    }

    /** Returns the TTL in seconds; 0 to read again each time. */
    public int seconds() {
        return STEPS.get(step).seconds();
    }

    @Override
    public String toString() {
        return nodes + " nodes, TTL " + seconds() + " s";
    }
}
