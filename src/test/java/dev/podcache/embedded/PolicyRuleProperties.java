package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever rules somebody has: what he may grant without escalating never allows a request that he may not make. */
class PolicyRuleProperties {

    private static final List<String> NAMES = List.of("", "db", "cert");

    @Property
    void missing_nothing_meansThatEachRequestIsAllowedAlready(
            @ForAll("rules") List<PolicyRule> held, @ForAll("rules") List<PolicyRule> wanted) {
        boolean covered = PolicyRule.missing(held, wanted).isEmpty();

        if (covered) {
            for (AuthorizerQuestion question : questions()) {
                if (allowed(wanted, question)) {
                    assertThat(allowed(held, question))
                            .as("%s by %s", question, held)
                            .isTrue();
                }
            }
        }
    }

    @Property
    void missing_whatIsHeld_isNothing(@ForAll("rules") List<PolicyRule> held) {
        assertThat(PolicyRule.missing(held, held)).isEmpty();
        assertThat(PolicyRule.missing(PolicyRule.everything(), held)).isEmpty();
    }

    /** Each right that is reported is one that a request can need; an empty list of names means all of them. */
    @Property
    void missing_something_isNeverHeld(
            @ForAll("rules") List<PolicyRule> held, @ForAll("rules") List<PolicyRule> wanted) {
        boolean more = questions().stream().anyMatch(question -> allowed(wanted, question) && !allowed(held, question));

        if (more) {
            assertThat(PolicyRule.missing(held, wanted)).isNotEmpty();
        }
    }

    private static boolean allowed(List<PolicyRule> rules, AuthorizerQuestion question) {
        return rules.stream().anyMatch(rule -> rule.allows(question));
    }

    private static List<AuthorizerQuestion> questions() {
        return List.of("get", "list").stream()
                .flatMap(verb -> List.of("", "apps").stream()
                        .flatMap(group -> List.of("secrets", "pods").stream()
                                .flatMap(resource -> List.of("", "status", "log").stream()
                                        .flatMap(part -> NAMES.stream()
                                                .map(name -> new AuthorizerQuestion(
                                                        Caller.ANONYMOUS,
                                                        verb,
                                                        group,
                                                        resource,
                                                        part,
                                                        "shop",
                                                        name,
                                                        ""))))))
                .toList();
    }

    @Provide
    Arbitrary<List<PolicyRule>> rules() {
        return Combinators.combine(
                        some("get", "list", "*"),
                        some("", "apps", "*"),
                        some("secrets", "pods", "pods/status", "*/status", "pods/*", "*"),
                        Arbitraries.of("db", "cert").set().ofMaxSize(2))
                .as((verbs, groups, resources, names) -> new PolicyRule(
                        ImmutableSet.copyOf(verbs),
                        ImmutableSet.copyOf(groups),
                        ImmutableSet.copyOf(resources),
                        ImmutableSet.copyOf(names),
                        ImmutableSet.of()))
                .list()
                .ofMaxSize(3);
    }

    private static Arbitrary<Set<String>> some(String... values) {
        return Arbitraries.of(values).set().ofMinSize(1).ofMaxSize(2);
    }
}
