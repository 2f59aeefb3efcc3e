package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.podcache.testing.Slow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Slow
class MutantListTest {

    private static final String TEXT = """
            # Mutants
            About them.

            ## never-fresh
            No state ever says FRESH.

            Found by: embedded run in verify, as `RUN too-few-fresh`.

            In `store/TtlEntry.java`:
            ```diff
            -    a
            -    b
            +    c
            ```
            """;

    @Test
    void parse_section_isAMutant() {
        assertThat(MutantList.parse(TEXT))
                .containsExactly(new Mutant(
                        "never-fresh",
                        new FoundBy.OneRun(ChaosProgram.On.EMBEDDED, List.of(Shape.TOO_FEW_FRESH), false),
                        List.of(new Mutant.SourceEdit("store/TtlEntry.java", "    a\n    b\n", "    c\n"))));
    }

    @Test
    void parse_oneFindingOrTheOther_isBoth() {
        String text = TEXT.replace("too-few-fresh`", "too-few-fresh` or `P9 outdated-in-calm`");

        assertThat(MutantList.parse(text))
                .singleElement()
                .satisfies(mutant -> assertThat(mutant.foundBy())
                        .isEqualTo(new FoundBy.OneRun(
                                ChaosProgram.On.EMBEDDED,
                                List.of(Shape.TOO_FEW_FRESH, Shape.OUTDATED_IN_CALM),
                                false)));
    }

    @Test
    void parse_foundByATest_isThatTest() {
        assertThat(MutantList.parse(TEXT.replaceAll("Found by.*", "Found by: test `object.ObjectKeyTest#of_a_b`.")))
                .singleElement()
                .satisfies(mutant -> assertThat(mutant.foundBy())
                        .isEqualTo(new FoundBy.OneTest("dev.podcache.object.ObjectKeyTest", "of_a_b")));
    }

    @Test
    void parse_sectionThatIsNotAsTheFileSays_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> MutantList.parse(TEXT.replace("Found by", "Seen by")));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MutantList.parse(TEXT.replace("too-few-fresh", "too-few-things")));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MutantList.parse(TEXT.replaceAll("Found by.*", "Found by: test `ObjectKeyTest`.")));
        assertThatIllegalArgumentException().isThrownBy(() -> MutantList.parse(TEXT.replace("-    a", "    a")));
        assertThatIllegalArgumentException().isThrownBy(() -> MutantList.parse(TEXT.replace("```diff", "```")));
        assertThatIllegalArgumentException().isThrownBy(() -> MutantList.parse(TEXT + TEXT));
    }

    @Test
    void read_theFile_listsAtLeastFifteen() throws IOException {
        assertThat(MutantList.read()).hasSizeGreaterThanOrEqualTo(15);
    }

    @Test
    void read_theFile_everyEditAppliesToTheSources() throws IOException {
        for (Mutant mutant : MutantList.read()) {
            assertThat(mutant.edits())
                    .as(mutant.name())
                    .noneMatch(edit -> edit.old().equals(edit.replacement()));
            MutantBuild.changed(mutant);
        }
    }

    /** Many at once, because most of the time goes to the start of the compiler. */
    @Test
    void read_theFile_everyMutantCompiles(@TempDir Path folder) throws IOException {
        List<Mutant> rest = MutantList.read();
        while (!rest.isEmpty()) {
            Set<String> files = new HashSet<>();
            List<Mutant> together = rest.stream()
                    .filter(mutant -> mutant.edits().stream()
                            .map(Mutant.SourceEdit::file)
                            .distinct()
                            .allMatch(files::add))
                    .toList();
            Mutant merged = new Mutant(
                    "merged",
                    together.get(0).foundBy(),
                    together.stream().flatMap(mutant -> mutant.edits().stream()).toList());
            new MutantBuild(folder.resolve("merged"), MutantsRun.CLASS_PATH).compile(merged);
            rest = rest.stream().filter(mutant -> !together.contains(mutant)).toList();
        }
    }

    @Test
    void read_theFile_everyTestExists() throws IOException {
        assertThat(MutantList.read())
                .extracting(Mutant::foundBy)
                .filteredOn(FoundBy.OneTest.class::isInstance)
                .isNotEmpty()
                .allMatch(test -> OneTestProgram.exists((FoundBy.OneTest) test));
    }

    @Test
    void applyTo_textThatOccursOnce_isReplaced() {
        assertThat(new Mutant.SourceEdit("A.java", "b\n", "x\n").applyTo("a\nb\nc\n"))
                .isEqualTo("a\nx\nc\n");
    }

    @Test
    void applyTo_textThatDoesNotOccurOnce_isRefused() {
        Mutant.SourceEdit edit = new Mutant.SourceEdit("A.java", "b\n", "x\n");

        assertThatIllegalStateException().isThrownBy(() -> edit.applyTo("a\nc\n"));
        assertThatIllegalStateException().isThrownBy(() -> edit.applyTo("b\nb\n"));
    }
}
