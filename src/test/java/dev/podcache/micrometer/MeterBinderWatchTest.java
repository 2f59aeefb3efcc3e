package dev.podcache.micrometer;

import dev.podcache.manager.ChangeDetectionStrategy;

class MeterBinderWatchTest extends MeterBinderKit {

    MeterBinderWatchTest() {
        super(ChangeDetectionStrategy.WATCH);
    }
}
