package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code hollow} on the embedded server. */
@Slow
@ExtendWith(NoLeaks.class)
class HollowCommandTest extends ServedCommandFixture {

    private static final List<Resource> CREATED =
            List.of(Resource.PODS, Resource.SECRETS, Resource.NODES, Resource.LEASES);

    @Override
    CommandRun start(String... options) {
        return CommandRun.start(
                "hollow",
                kubeconfig,
                Stream.concat(Stream.of("--nodes", "1"), Stream.of(options)).toArray(String[]::new));
    }

    private int count(Resource resource) {
        return cluster.list(resource, Selection.everything(), "").items().size();
    }

    @Test
    void nodesWithPods_areReadyAndRun_andAreDeletedAtTheEnd() throws Exception {
        try (CommandRun run = CommandRun.start("hollow", kubeconfig, "--nodes", "3", "--pods-per-node", "2")) {
            await().until(() -> run.says("3 of 3 nodes Ready, 6 of 6 pods Running"));
            await().until(() -> cluster.get(Pod.class, "default", "hollow-2-1")
                    .getStatus()
                    .getPhase()
                    .equals("Running"));
            assertThat(count(Resource.NODES)).isEqualTo(3);

            assertThat(run.stop()).isZero();

            assertThat(run.out().get(0)).contains("3 nodes hollow-0 to hollow-2", server.url());
            assertThat(run.err()).isEmpty();
            assertThat(CREATED).allMatch(resource -> count(resource) == 0);
        }
    }

    /** A scheduler must not place pods there that are to do something. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | podcache.dev/hollow:NoSchedule",
                "'--register-with-taints=' | ''",
                "'--register-with-taints=dedicated=load:NoExecute' | dedicated:NoExecute"
            })
    void taints_ofANode_areThoseOfTheOption_byDefaultOneThatKeepsPodsAway(String option, String expected)
            throws Exception {
        String[] options = option.isEmpty() ? new String[0] : new String[] {option};
        try (CommandRun run = start(options)) {
            await().until(() -> run.says("1 of 1 nodes Ready"));

            assertThat(cluster.get(Node.class, "", "hollow-0").getSpec().getTaints())
                    .extracting(taint -> taint.getKey() + ":" + taint.getEffect())
                    .isEqualTo(expected.isEmpty() ? List.of() : List.of(expected));

            assertThat(run.stop()).isZero();
        }
    }

    @Test
    void forATime_endsAfterIt_andKeepLeavesEverything() throws Exception {
        try (CommandRun run = CommandRun.start(
                "hollow",
                kubeconfig,
                "--nodes",
                "2",
                "--pods-per-node",
                "1",
                "--prefix",
                "edge-",
                "--keep",
                "--for",
                "3s")) {
            assertThat(run.awaitEnd()).isZero();

            assertThat(run.says("nodes Ready, ")).isTrue();
            assertThat(run.says("deleting")).isFalse();
            assertThat(count(Resource.NODES)).isPositive();
            assertThat(count(Resource.PODS)).isEqualTo(2);
            assertThat(count(Resource.SECRETS)).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--keep=false", "--keep"})
    void nodeExists_isRefusedAndStays(String keep) throws Exception {
        cluster.create(new NodeBuilder()
                .withNewMetadata()
                .withName("hollow-1")
                .endMetadata()
                .build());

        try (CommandRun run = CommandRun.start("hollow", kubeconfig, "--nodes", "2", "--for", "5s", keep)) {
            assertThat(run.awaitEnd()).isEqualTo(1);

            assertThat(run.err())
                    .containsExactly("error: Node hollow-1 exists already: choose another --prefix, or delete it");
        }
        assertThat(count(Resource.NODES)).isEqualTo(1);
    }

    @Test
    void endsWhileItCreatesPods_noneIsLeft() throws Exception {
        try (CommandRun run = CommandRun.start("hollow", kubeconfig, "--nodes", "10", "--pods-per-node", "2000")) {
            await().until(() -> count(Resource.PODS) > 0);

            assertThat(run.stop()).isZero();

            assertThat(CREATED).allMatch(resource -> count(resource) == 0);
        }
    }

    @Test
    void serverIsGoneAtTheEnd_saysWhatIsLeftAndHowToDeleteIt(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("failed; retrying: ");
        leaks.allowWarnings("Node hollow-0 ");
        try (CommandRun run = start("--pods-per-node", "1")) {
            await().until(() -> run.says("1 of 1 nodes Ready, 1 of 1 pods Running"));
            server.close();

            assertThat(run.stop()).isEqualTo(1);

            assertThat(run.err())
                    .anySatisfy(line -> assertThat(line)
                            .startsWith("error: ")
                            .contains("kubectl delete", "podcache.dev/hollow=hollow-0"));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--strategy sometimes|sometimes",
                "--namespace Shop_1|namespace \"Shop_1\" is not a legal Kubernetes name",
                "--nodes 0|--nodes",
                "--nodes 1 --pods-per-node -1|--pods-per-node",
                "--nodes one|--nodes",
                "--nodes 1 --prefix Hollow_|Hollow_",
                "--nodes 1 --node-labels =x|label",
                "--nodes 1 --register-with-taints a=b|taint",
                "--nodes 1 --for soon|soon",
                "--nodes 1 --node-name a|--node-name",
            })
    void wrongOptions_areUsageErrors(String options, String named) {
        int code = console.execute(("hollow " + options).split(" "));

        assertThat(code).isEqualTo(2);
        assertThat(console.err().get(0)).startsWith("error: ").contains(named);
        assertThat(count(Resource.NODES)).isZero();
    }
}
