package dev.podcache.reflector;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A step that throws, and a report of it that throws too, as where memory is missing. */
class ThrowingStepsTest {

    private final List<String> ran = new ArrayList<>();

    @Test
    void run_reportThrows_laterStepsRun() {
        Steps steps = new Steps(thrown -> {
            throw new OutOfMemoryError("in the report of " + thrown);
        });

        steps.run(() -> {
            steps.run(() -> ran.add("submitted by the one that throws"));
            throw new OutOfMemoryError();
        });
        steps.run(() -> ran.add("after it"));

        assertThat(ran).containsExactly("submitted by the one that throws", "after it");
    }
}
