package dev.podcache.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.podcache.testing.Slow;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A rule for the tests, too. */
@Slow
@AnalyzeClasses(packages = "dev.podcache")
final class CommonPoolTest {

    @ArchTest
    static final ArchRule no_task_runs_in_the_common_pool = noClasses()
            .should()
            .callMethod(CompletableFuture.class, "supplyAsync", Supplier.class)
            .orShould()
            .callMethod(CompletableFuture.class, "runAsync", Runnable.class)
            .because("it has one thread on a machine with two cores, so two tasks that wait for each other never end");
}
