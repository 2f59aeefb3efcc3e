package dev.podcache.time;

import java.util.Arrays;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a {@link SimulatedTimekeeper}; the earliest comes first, and of equally early ones the one that was
 * scheduled first. Not thread-safe.
 */
final class TimerHeap {

    /*
     * A heap with four children per node, of numbers only: when each timer is due, and its slot. A timer stays in its slot
     * until it is removed. To compare times that are all over the memory, or to move references, which the garbage
     * collector follows, would take longer than the rest of a simulated heartbeat.
     *
     * Invariant: the slots of dues[0..size) are different, and those at [size..length) are free.
     */

    private static final int CHILDREN = 4;
    private static final int FIRST_CAPACITY = 64;

    private long[] dues = new long[FIRST_CAPACITY];
    private int[] slots = firstSlots();
    private @Nullable Timer[] timers = new Timer[FIRST_CAPACITY]; // by slot
    private int size;

    /** A task that is due at some time. Its owner guards the task. */
    static final class Timer {

        final long number;

        volatile @Nullable Runnable task; // null once it has begun, or is cancelled

        /**
         * Creates a timer.
         *
         * @param number counts the timers
         */
        Timer(long number, Runnable task) {
            this.number = number;
            this.task = task;
        }
    }

    private static int[] firstSlots() {
        int[] slots = new int[FIRST_CAPACITY];
        Arrays.setAll(slots, i -> i);
        return slots;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Returns when the first timer is due; the latest possible time if there is none. */
    long firstDue() {
        return size == 0 ? Long.MAX_VALUE : dues[0];
    }

    void add(long due, Timer timer) {
        if (size == dues.length) {
            grow();
        }
        int slot = slots[size];
        timers[slot] = timer;
        rise(size++, due, slot);
    }

    private void grow() {
        int grown = size * 2;
        dues = Arrays.copyOf(dues, grown);
        timers = Arrays.copyOf(timers, grown);
        slots = Arrays.copyOf(slots, grown);
        for (int i = size; i < grown; i++) {
            slots[i] = i;
        }
    }

    /**
     * Removes and returns the first timer.
     *
     * @throws NoSuchElementException if there is none
     */
    Timer poll() {
        if (size == 0) {
            throw new NoSuchElementException("there is no timer");
        }
        int first = slots[0];
        Timer timer = timer(first);
        timers[first] = null;
        size--;
        int last = slots[size];
        slots[size] = first;
        if (size > 0) {
            sink(dues[size], last);
        }
        return timer;
    }

    /** Puts a timer in a place, or further up. */
    private void rise(int from, long due, int slot) {
        int hole = from;
        while (hole > 0 && isBefore(due, slot, (hole - 1) / CHILDREN)) {
            int parent = (hole - 1) / CHILDREN;
            put(hole, dues[parent], slots[parent]);
            hole = parent;
        }
        put(hole, due, slot);
    }

    /** Puts a timer in the place of the first one, or further down. */
    private void sink(long due, int slot) {
        int hole = 0;
        for (int child = leastChild(hole); child < size && !isBefore(due, slot, child); child = leastChild(hole)) {
            put(hole, dues[child], slots[child]);
            hole = child;
        }
        put(hole, due, slot);
    }

    /** Returns the place of the first of the timers below {@code parent}; {@link #size} or more if there are none. */
    private int leastChild(int parent) {
        int least = parent * CHILDREN + 1;
        int end = Math.min(size, least + CHILDREN);
        for (int child = least + 1; child < end; child++) {
            if (isBefore(dues[child], slots[child], least)) {
                least = child;
            }
        }
        return least;
    }

    private boolean isBefore(long due, int slot, int place) {
        long other = dues[place];
        return due == other ? timer(slot).number < timer(slots[place]).number : due < other;
    }

    private void put(int place, long due, int slot) {
        dues[place] = due;
        slots[place] = slot;
    }

    /** Removes the timers without a task. */
    void removeCancelled() {
        int before = size;
        size = 0;
        for (int i = 0; i < before; i++) {
            int slot = slots[i];
            if (timer(slot).task == null) {
                timers[slot] = null;
            } else {
                // keeps the free slot of the place that rise overwrites
                slots[i] = slots[size];
                rise(size++, dues[i], slot);
            }
        }
    }

    /** Removes all timers, and takes their tasks. */
    void clear() {
        for (int i = 0; i < size; i++) {
            timer(slots[i]).task = null;
        }
        Arrays.fill(timers, null);
        size = 0;
    }

    private Timer timer(int slot) {
        Timer timer = timers[slot];
        if (timer == null) {
            throw new IllegalStateException("a hole in the heap; this is a bug");
        }
        return timer;
    }
}
