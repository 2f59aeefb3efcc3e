package dev.podcache.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClasses;
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
    private static final String MODEL_JSON = "dev.podcache.object.ModelJson";
    private static final String EMBEDDED = "dev.podcache.embedded";
    private static final String PROBES = "dev.podcache.kubelet.probe";
    private static final String KUBELET_SERVER = "dev.podcache.kubelet.server";
    private static final String ACCESS = "dev.podcache.access";
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
    static final ArchRule a_jar_needs_only_the_library = classes()
            .should(Jars.needOnlyTheLibrary())
            .because("nobody who caches Secrets should have a node agent or an API server on the class path");

    @ArchTest
    static void each_class_is_in_one_jar(JavaClasses ignored) {
        Jars.requireEachClassInOneJar();
    }

    @ArchTest
    static final ArchRule the_fabric8_client_stays_in_its_adapter = noClasses()
            .that()
            .resideOutsideOfPackages(FABRIC8, HTTP, CREDENTIALS, ROOT, ACCESS, AGENT, CLI)
            .and()
            .haveNameNotMatching("dev\\.podcache\\.object\\.ModelJson(\\$.*)?")
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
            .resideOutsideOfPackages(EMBEDDED)
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.vertx..")
            .because("its classes differ between the versions that fabric8 7 and 8 bring");

    @ArchTest
    static final ArchRule only_ModelJson_converts_between_models_and_trees = noClasses()
            .that()
            .doNotHaveFullyQualifiedName(MODEL_JSON)
            .should()
            .accessTargetWhere(describe(
                    "it converts values by a mapper of Jackson",
                    (JavaAccess<?> access) -> access.getTargetOwner().getName().startsWith("com.fasterxml.jackson.")
                            && Set.of("valueToTree", "treeToValue", "convertValue", "updateValue")
                                    .contains(access.getName())))
            .because(
                    "the model of fabric8 8 is annotated for Jackson 3: Jackson 2 would write it without an error, and wrongly");

    @ArchTest
    static final ArchRule models_are_made_by_setters_and_builders = noClasses()
            .should()
            .accessTargetWhere(describe(
                    "it is a constructor or method of a model whose parameters are its fields",
                    ArchitectureTest::takesAllFields))
            .because("a version of the model that adds a field changes its parameters");

    @ArchTest
    static final ArchRule public_classes_of_netty_only_are_used = noClasses()
            .that()
            .resideInAnyPackage(HTTP, PROBES, KUBELET_SERVER)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.netty..internal..")
            .because("they differ between the versions of Netty that users bring");

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

    /** Of scalars, such as {@code new Quantity("1")}, the parameters are the value. */
    private static boolean takesAllFields(JavaAccess<?> access) {
        String owner = access.getTargetOwner().getName();
        if (!owner.startsWith("io.fabric8.kubernetes.api.model.")
                || !(access.getTarget() instanceof CodeUnitAccessTarget target)
                || target.getRawParameterTypes().isEmpty()) {
            return false;
        }
        boolean builder = access.getTargetOwner().getSimpleName().matches(".*(Builder|Fluent|Nested)");
        return builder
                ? access.getName().matches("(add|with)New.*")
                : access.getName().equals("<init>")
                        && !Set.of("Quantity", "IntOrString", "MicroTime")
                                .contains(access.getTargetOwner().getSimpleName());
    }

    private static boolean isClockOrThread(JavaAccess<?> access) {
        String owner = access.getTargetOwner().getName();
        return CLOCKS_AND_THREADS.contains(owner + "." + access.getName())
                || owner.equals("java.util.concurrent.Executors");
    }
}
