package dev.podcache.apiserver.http;

import java.util.concurrent.atomic.AtomicLong;

/** How many bytes of incomplete answers there may be in all, so that a sick server does not cost us the heap. Thread-safe. */
final class ByteBudget {

    private final long most;
    private final AtomicLong taken = new AtomicLong();

    ByteBudget(long most) {
        this.most = most;
    }

    /** Takes {@code bytes} unless that would be too many. */
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
