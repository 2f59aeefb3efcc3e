package dev.podcache;

import dev.podcache.manager.ChangeDetectionStrategy;

/** What {@link ScaleRun} compares: Podcache, and what a user would take instead. */
enum ScaleContestants {
    /** Podcache, strategy WATCH. */
    PODCACHE_WATCH {
        @Override
        Contestant open(ScaleCluster cluster) {
            return new PodcacheContestant(cluster.client(), ChangeDetectionStrategy.WATCH);
        }
    },
    /** Podcache, strategy CACHE. */
    PODCACHE_CACHE {
        @Override
        Contestant open(ScaleCluster cluster) {
            return new PodcacheContestant(cluster.client(), ChangeDetectionStrategy.CACHE);
        }
    },
    /** A fabric8 informer for each object, each started when the one before has synced. */
    INFORMER_PER_OBJECT {
        @Override
        Contestant open(ScaleCluster cluster) {
            return new InformerContestant(cluster.client(), InformerContestant.Start.IN_SEQUENCE);
        }
    },
    /** A fabric8 informer for each object, all started at once. */
    INFORMERS_TOGETHER {
        @Override
        Contestant open(ScaleCluster cluster) {
            return new InformerContestant(cluster.client(), InformerContestant.Start.TOGETHER);
        }
    },
    /** A fabric8 informer for each object, all started at once, over OkHttp, where starting in sequence takes far longer. */
    INFORMERS_TOGETHER_OKHTTP {
        @Override
        Contestant open(ScaleCluster cluster) {
            return new InformerContestant(cluster.okHttpClient(), InformerContestant.Start.TOGETHER);
        }
    },
    /** One fabric8 informer on the namespace. */
    NAMESPACE_INFORMER {
        @Override
        Contestant open(ScaleCluster cluster) {
            return new NamespaceInformerContestant(cluster.client());
        }
    },
    /** A GET for each read. */
    GET {
        @Override
        Contestant open(ScaleCluster cluster) {
            return new GetContestant(cluster.client());
        }
    };

    /** Follows nothing yet; has a client of its own. */
    abstract Contestant open(ScaleCluster cluster);
}
