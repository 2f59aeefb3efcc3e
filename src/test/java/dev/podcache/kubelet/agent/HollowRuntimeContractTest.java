package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.HollowStage;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.PodRuntimeContract;
import java.time.Duration;
import java.util.List;
import java.util.Map;

class HollowRuntimeContractTest extends PodRuntimeContract {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();

    @Override
    protected PodRuntime runtime() {
        HollowStage ending = new HollowStage(Map.of(ENDS, "true"), Duration.ZERO, Duration.ofSeconds(1), 0);
        return new HollowRuntime(timekeeper, List.of(ending, HollowStage.RUNNING), pod -> List.of());
    }

    @Override
    protected Launch launch(boolean ends) {
        return ProcessFixture.launch(Map.of());
    }

    @Override
    protected void meanwhile() {
        timekeeper.advance(Duration.ofSeconds(1));
    }
}
