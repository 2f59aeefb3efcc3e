package dev.podcache.example;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.testing.PodRuntimeContract;
import java.util.List;
import java.util.Map;

/** The runtime of the example is one on which an agent can rely. */
class SmallRuntimeTest extends PodRuntimeContract {

    @Override
    protected PodRuntime runtime() {
        return new SmallRuntime();
    }

    @Override
    protected Launch launch(boolean ends) {
        return new Launch(List.of("sleep", ends ? "0.2" : "300"), List.of(), "", Map.of(), List.of(), List.of(), 0);
    }
}
