package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** References are a multiset, whichever of its two forms they have at the moment. */
class ReferencesProperties {

    record Step(boolean add, Referrer referrer) {}

    @Property
    void references_anySequenceOfSteps_areAMultiset(@ForAll("steps") List<Step> steps) {
        References references = new References();
        Multiset<Referrer> model = HashMultiset.create();

        for (Step step : steps) {
            if (step.add()) {
                references.add(step.referrer());
                model.add(step.referrer());
            } else {
                assertThat(references.delete(step.referrer())).isEqualTo(model.remove(step.referrer()));
            }
            assertThat(references.count()).isEqualTo(model.size());
        }
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        Arbitrary<Referrer> referrers = Arbitraries.of("1", "2", "3").map(uid -> PodKey.of("shop", "cart", uid));
        return Combinators.combine(Arbitraries.of(true, false), referrers)
                .as(Step::new)
                .list()
                .ofMaxSize(30);
    }
}
