package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.testkit.engine.EngineTestKit;

class PropertySeedsTest {

    @TempDir
    private static Path folder;

    private static final List<Integer> tried = new ArrayList<>();
    private static boolean broken;

    /** Stores seeds in the folder of this test. */
    static final class Own extends PropertySeeds {
        Own() {
            super(folder.toString());
        }
    }

    @AddLifecycleHook(Own.class)
    static class Sample {
        @Property(tries = 20)
        void holds(@ForAll @IntRange(min = 1000) int number) {
            tried.add(number);
            assertThat(broken && tried.size() == 10).isFalse();
        }
    }

    @BeforeEach
    void mend() {
        broken = false;
        run();
    }

    @Test
    void property_held_isTriedWithAnotherSeed() {
        assertThat(run()).isNotEqualTo(run());
    }

    @Test
    void property_failed_isTriedWithTheSameSeedUntilItHolds() {
        broken = true;
        List<Integer> first = run();
        List<Integer> second = run();
        broken = false;
        List<Integer> mended = run();
        List<Integer> next = run();

        assertThat(second.subList(0, 10)).isEqualTo(first.subList(0, 10));
        assertThat(mended.subList(0, 10)).isEqualTo(first.subList(0, 10));
        assertThat(next.subList(0, 10)).isNotEqualTo(first.subList(0, 10));
    }

    private static List<Integer> run() {
        tried.clear();
        EngineTestKit.engine("jqwik")
                .configurationParameter("jqwik.database", "")
                .selectors(selectClass(Sample.class))
                .execute();
        return List.copyOf(tried);
    }
}
