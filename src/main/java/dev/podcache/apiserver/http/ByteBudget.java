package dev.podcache.apiserver.http;

import java.util.concurrent.atomic.AtomicLong;

/** Limits the total size of incomplete answers, so that a faulty server cannot fill the heap. Thread-safe. */
final class ByteBudget {

    private final long most;
    private final AtomicLong taken = new AtomicLong();

    ByteBudget(long most) {
        this.most = most;
    }

    /** Reserves {@code bytes} and returns true, or returns false if that would exceed the limit. */
    boolean take(int bytes) {
        if (taken.addAndGet(bytes) <= most) {
            return true;
        }
        taken.addAndGet(-bytes);
        return false;
    }

    void giveBack(int bytes) {
        taken.addAndGet(-bytes);
    }
}
