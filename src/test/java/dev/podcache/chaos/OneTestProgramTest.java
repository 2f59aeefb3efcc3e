package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OneTestProgramTest {

    /** None of the build's tests: the class is not found by its name. */
    static final class Fates {

        @Test
        void passes() {}

        @Test
        void fails() {
            fail("as it should");
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 2, 3})
        void failsOnceOfThrice(int number) {
            assertThat(number).isNotEqualTo(2);
        }

        @Test
        @Disabled("for the test")
        void disabled() {}

        @Test
        void aborts() {
            abort("for the test");
        }

        void noTest() {}
    }

    static final class Unprepared {

        @BeforeAll
        static void prepare() {
            fail("as it should");
        }

        @Test
        void passes() {}
    }

    static final class Tries {

        @Property(tries = 10)
        void holds(@ForAll int number) {
            assertThat(number).isBetween(Integer.MIN_VALUE, Integer.MAX_VALUE);
        }
    }

    @Test
    void run_test_isWhatBecameOfIt() throws Exception {
        assertThat(run(Fates.class, "passes")).contains(OneTestProgram.Outcome.PASSED);
        assertThat(run(Fates.class, "fails")).contains(OneTestProgram.Outcome.FAILED);
        assertThat(run(Fates.class, "failsOnceOfThrice")).contains(OneTestProgram.Outcome.FAILED);
        assertThat(run(Fates.class, "disabled")).contains(OneTestProgram.Outcome.SKIPPED);
        assertThat(run(Fates.class, "aborts")).contains(OneTestProgram.Outcome.SKIPPED);
        assertThat(run(Tries.class, "holds")).contains(OneTestProgram.Outcome.PASSED);
    }

    @Test
    void run_whatDidNotRun_isNothing() throws Exception {
        assertThat(run(Unprepared.class, "passes")).isEmpty();
        assertThat(run(Fates.class, "noTest")).isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> run(Fates.class, "none"));
    }

    @Test
    void exists_anythingButATest_isFalse() {
        assertThat(OneTestProgram.exists(test(Fates.class, "passes"))).isTrue();
        assertThat(OneTestProgram.exists(test(Fates.class, "failsOnceOfThrice")))
                .isTrue();
        assertThat(OneTestProgram.exists(test(Tries.class, "holds"))).isTrue();
        assertThat(OneTestProgram.exists(test(Fates.class, "noTest"))).isFalse();
        assertThat(OneTestProgram.exists(test(Fates.class, "none"))).isFalse();
        assertThat(OneTestProgram.exists(new FoundBy.OneTest("dev.podcache.None", "none")))
                .isFalse();
    }

    private static FoundBy.OneTest test(Class<?> type, String method) {
        return new FoundBy.OneTest(type.getName(), method);
    }

    private static Optional<OneTestProgram.Outcome> run(Class<?> type, String method) throws ClassNotFoundException {
        return OneTestProgram.run(test(type, method), new PrintStream(OutputStream.nullOutputStream()));
    }
}
