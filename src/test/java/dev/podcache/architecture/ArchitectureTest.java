package dev.podcache.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;
import org.jspecify.annotations.NullMarked;

/** The house rules that a machine can check. */
@AnalyzeClasses(packages = "dev.podcache", importOptions = ArchitectureTest.WithoutTests.class)
final class ArchitectureTest {

    private static final String ROOT = "dev.podcache";
    private static final String FABRIC8 = "dev.podcache.apiserver.fabric8";
    private static final String HTTP = "dev.podcache.apiserver.http";
    private static final String CREDENTIALS = "dev.podcache.apiserver.credentials";
    private static final String EMBEDDED = "dev.podcache.embedded";
    private static final String PROBE_NETWORK = "dev.podcache.kubelet.probe.ProbeNetwork";
    private static final String KUBELET_LISTENERS =
            "dev\\.podcache\\.kubelet\\.server\\.(Https?Listener|VertxExchange|VertxWebSocket|ConnectionGate|ConnectionGuard)(\\$.*)?";
    private static final String AGENT = "dev.podcache.kubelet.agent";
    private static final String CLI = "dev.podcache.cli..";
    private static final String TIME = "dev.podcache.time";

    private static final Set<String> CLOCKS_AND_THREADS = Set.of(
            "java.lang.System.nanoTime",
            "java.lang.System.currentTimeMillis",
            "java.time.Instant.now",
            "java.lang.Thread.sleep",
            "java.lang.Thread.<init>");

    /** Without the classes of tests, which ArchUnit knows only in the usual folder. */
    static final class WithoutTests implements ImportOption {

        @Override
        public boolean includes(Location location) {
            return !location.contains("/test-classes/");
        }
    }

    @ArchTest
    static final ArchRule a_package_imports_only_packages_on_lines_below_it = classes()
            .should(Layers.importOnlyBelow())
            .because(
                    "data travels from top to bottom, and a reader should never have to look up to understand a package");

    @ArchTest
    static final ArchRule embedded_imports_only_object_time_and_patch = noClasses()
            .that()
            .resideInAPackage(EMBEDDED)
            .should()
            .dependOnClassesThat(describe(
                    "are ours, but neither of object, time, patch nor of embedded itself",
                    target -> target.getPackageName().startsWith(ROOT)
                            && !target.getPackageName().matches("dev\\.podcache\\.(object|time|patch|embedded)")))
            .because("a server that shares code with its client shares its mistakes, and then no test finds them");

    @ArchTest
    static final ArchRule the_fabric8_client_stays_in_its_adapter = noClasses()
            .that()
            .resideOutsideOfPackages(FABRIC8, HTTP, CREDENTIALS, ROOT, AGENT, CLI)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.fabric8.kubernetes.client..")
            .because("the ports of apiserver are all that the rest knows of a client");

    @ArchTest
    static final ArchRule the_client_of_the_user_is_never_closed = noClasses()
            .that()
            .resideOutsideOfPackage(CLI)
            .should()
            .accessTargetWhere(describe(
                    "it closes a client",
                    (JavaAccess<?> access) -> access.getName().equals("close")
                            && access.getTargetOwner().getName().startsWith("io.fabric8.kubernetes.client")
                            && access.getTargetOwner().getName().endsWith("Client")))
            .because("the user made it and may use it for other things; only a program closes the client that it made");

    @ArchTest
    static final ArchRule vertx_stays_where_bytes_move = noClasses()
            .that()
            .resideOutsideOfPackages(HTTP, EMBEDDED)
            .and()
            .doNotHaveFullyQualifiedName(PROBE_NETWORK)
            .and()
            .haveNameNotMatching(KUBELET_LISTENERS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.vertx..")
            .because(
                    "event loops and buffers are a detail of two packages, of the probes and of the kubelet's listeners");

    @ArchTest
    static final ArchRule time_and_threads_come_from_the_timekeeper = noClasses()
            .that()
            .resideOutsideOfPackages(TIME, CLI)
            .should()
            .accessTargetWhere(describe("it is a clock, a sleep or a thread", ArchitectureTest::isClockOrThread))
            .because("a test must be able to drive every clock, timer and wait by hand: take a Timekeeper");

    @ArchTest
    static final ArchRule public_classes_are_not_open_for_extension = classes()
            .that()
            .arePublic()
            .should()
            .haveModifier(JavaModifier.FINAL)
            .orShould()
            .beInterfaces()
            .orShould()
            .beEnums()
            .orShould(be(describe("sealed", type -> type.reflect().isSealed())))
            .because("what others may extend must be designed for it; everything else stays free to change");

    @ArchTest
    static final ArchRule a_name_says_what_a_class_is = noClasses()
            .should()
            .haveNameMatching(".*(Utils?|Helper|Impl|Base|Common|Handler)")
            .because("such a name hides that nobody decided what the class is for");

    @ArchTest
    static final ArchRule every_package_is_null_marked = classes()
            .should(be(describe(
                    "in a package that is @NullMarked",
                    type -> type.getPackage().isAnnotatedWith(NullMarked.class))))
            .because("NullAway looks at marked packages only, and package-info is where a reader begins");

    private static boolean isClockOrThread(JavaAccess<?> access) {
        String owner = access.getTargetOwner().getName();
        return CLOCKS_AND_THREADS.contains(owner + "." + access.getName())
                || owner.equals("java.util.concurrent.Executors");
    }
}
