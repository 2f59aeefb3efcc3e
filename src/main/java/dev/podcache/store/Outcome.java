package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import org.jspecify.annotations.Nullable;

/**
 * How a fetch ended.
 *
 * @param answer what the API server said; null if it could not be asked
 * @param failure why it could not be asked; null if it said something, and null too if the store was closed meanwhile
 */
record Outcome<T>(@Nullable Answer<T> answer, @Nullable ApiServerException failure) {

    static <T> Outcome<T> answered(Answer<T> answer) {
        return new Outcome<>(answer, null);
    }

    static <T> Outcome<T> failed(ApiServerException failure) {
        return new Outcome<>(null, failure);
    }

    static <T> Outcome<T> closed() {
        return new Outcome<>(null, null);
    }

    boolean isPresent() {
        return answer instanceof Answer.Present;
    }

    boolean isClosed() {
        return answer == null && failure == null;
    }
}
