package dev.podcache;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.WatchScope;
import io.fabric8.kubernetes.client.KubernetesClient;

/** What {@link ScaleRun} compares: Podcache, and what a user would take instead. */
enum ScaleContestants {
    /** Podcache, strategy WATCH. */
    PODCACHE_WATCH {
        @Override
        Contestant open(KubernetesClient client) {
            return new PodcacheContestant(client, ChangeDetectionStrategy.WATCH, WatchScope.OBJECT);
        }
    },
    /** Podcache, strategy WATCH, one watch for all Secrets of the namespace. */
    PODCACHE_NAMESPACE {
        @Override
        Contestant open(KubernetesClient client) {
            return new PodcacheContestant(client, ChangeDetectionStrategy.WATCH, WatchScope.NAMESPACE);
        }
    },
    /** Podcache, strategy CACHE. */
    PODCACHE_CACHE {
        @Override
        Contestant open(KubernetesClient client) {
            return new PodcacheContestant(client, ChangeDetectionStrategy.CACHE, WatchScope.OBJECT);
        }
    },
    /** A fabric8 informer for each object, each started when the one before has synced. */
    INFORMER_PER_OBJECT {
        @Override
        Contestant open(KubernetesClient client) {
            return new InformerContestant(client, InformerContestant.Start.IN_SEQUENCE);
        }
    },
    /** A fabric8 informer for each object, all started at once. */
    INFORMERS_TOGETHER {
        @Override
        Contestant open(KubernetesClient client) {
            return new InformerContestant(client, InformerContestant.Start.TOGETHER);
        }
    },
    /** A fabric8 informer for each object, all started at once, over OkHttp, where starting in sequence takes far longer. */
    INFORMERS_TOGETHER_OKHTTP {
        @Override
        Contestant open(KubernetesClient client) {
            return new InformerContestant(client, InformerContestant.Start.TOGETHER);
        }

        @Override
        KubernetesClient client(ScaleCluster cluster) {
            return cluster.okHttpClient();
        }
    },
    /** One fabric8 informer on the namespace. */
    NAMESPACE_INFORMER {
        @Override
        Contestant open(KubernetesClient client) {
            return new NamespaceInformerContestant(client);
        }
    },
    /** A GET for each read. */
    GET {
        @Override
        Contestant open(KubernetesClient client) {
            return new GetContestant(client);
        }
    };

    /** Opens the client that this contestant uses. */
    KubernetesClient client(ScaleCluster cluster) {
        return cluster.client();
    }

    /** Returns a contestant that follows nothing yet, and closes {@code client} when it is closed. */
    abstract Contestant open(KubernetesClient client);
}
