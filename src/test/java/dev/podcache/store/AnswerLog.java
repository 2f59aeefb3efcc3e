package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tells each change of an entry's answer, such as {@code FRESH to ABSENT}. */
final class AnswerLog<T> implements Consumer<ObjectKey> {

    private final Entry<T> entry;
    private final Consumer<String> log;
    private @Nullable Answer<T> before;

    AnswerLog(Entry<T> entry, Consumer<String> log) {
        this.entry = entry;
        this.log = log;
    }

    @Override
    public void accept(ObjectKey changed) {
        Answer<T> now = entry.answer();
        if (!Answer.isSame(before, now)) {
            log.accept(Answer.cacheStateOf(before) + " to " + Answer.cacheStateOf(now));
            before = now;
        }
    }
}
