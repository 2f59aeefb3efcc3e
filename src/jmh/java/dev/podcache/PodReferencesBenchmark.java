package dev.podcache;

import dev.podcache.object.Reference;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does it cost to find what a pod refers to?
 *
 * <p>Two containers, Secrets by environment and by volumes. The baseline is the least that any solution does: loops
 * over the same lists into a set of names, without the rarer places where a pod can name a Secret.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="PodReferences -prof gc"
 * }</pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@State(Scope.Benchmark)
public class PodReferencesBenchmark {

    /** How many Secrets. */
    @Param({"0", "5", "50"})
    public int references;

    private Pod pod;

    /** Makes the pod. */
    @Setup
    public void make() {
        List<String> names =
                IntStream.range(0, references).mapToObj(i -> "secret-" + i).toList();
        pod = SomePod.of("shop", "cart", names, List.of("settings"));
    }

    /** Ours. */
    @Benchmark
    public Set<Reference> secrets() {
        return PodReferences.secrets(pod);
    }

    /** Ours, where there is little to find. */
    @Benchmark
    public Set<Reference> configMaps() {
        return PodReferences.configMaps(pod);
    }

    /** The least. */
    @Benchmark
    public Set<String> loops() {
        Set<String> names = new LinkedHashSet<>();
        for (Container container : pod.getSpec().getContainers()) {
            for (EnvVar variable : container.getEnv()) {
                if (variable.getValueFrom() != null && variable.getValueFrom().getSecretKeyRef() != null) {
                    names.add(variable.getValueFrom().getSecretKeyRef().getName());
                }
            }
        }
        for (Volume volume : pod.getSpec().getVolumes()) {
            if (volume.getSecret() != null) {
                names.add(volume.getSecret().getSecretName());
            }
        }
        return names;
    }
}
