/**
 * The cases of the kubelet's own unit tests, and of issues in which it failed its users, told to this implementation.
 * Each class names its origin; inputs and expected outcomes are upstream's, the code is not.
 *
 * <p>Cases of the status pipeline are told next to the code that they are about. This is where each of upstream's is,
 * by the name that it has there; a remark says what is missing or different, a dash that it does not apply. The
 * objects' caches are in this package.
 *
 * <table>
 * <caption>Node registration</caption>
 * <tr><th>upstream</th><th>here</th><th>remark</th></tr>
 * <tr><td>{@code TestTryRegisterWithApiServer}</td><td>{@code NodeRegistrationTest}</td><td></td></tr>
 * <tr><td>{@code TestRegisterWithApiServer}</td><td>{@code NodeRegistrationTest}</td><td></td></tr>
 * <tr><td>{@code TestRegisterWithApiServerWithTaint}</td><td>-</td><td>a node that registers unschedulable went with
 * its flag, before the version followed here</td></tr>
 * <tr><td>{@code TestUpdateDefaultLabels}</td><td>{@code NodeReconcilerTest}</td><td></td></tr>
 * <tr><td>{@code TestReconcileExtendedResource}</td><td>{@code NodeReconcilerTest}</td><td>without a reset: there are no
 * device plugins</td></tr>
 * <tr><td>{@code TestReconcileHugePageResource}</td><td>{@code NodeReconcilerTest}</td><td></td></tr>
 * <tr><td>{@code TestValidateNodeIPParam}</td><td>{@code NodeIpsTest}</td><td>without the row that has no address:
 * the type excludes it</td></tr>
 * </table>
 *
 * <table>
 * <caption>Node status</caption>
 * <tr><th>upstream</th><th>here</th><th>remark</th></tr>
 * <tr><td>{@code TestNodeStatusHasChanged}</td><td>{@code NodeStatusChangeTest}</td><td></td></tr>
 * <tr><td>{@code TestUpdateNodeStatusWithLease}</td><td>{@code NodeStatusUpdaterTest},
 * {@code NodeStatusSettersTest}</td><td>the first read costs no request, as in newer versions; no runtime is told of
 * podCIDRs</td></tr>
 * <tr><td>{@code TestUpdateNodeStatusError}</td><td>{@code NodeStatusUpdaterTest}</td><td></td></tr>
 * <tr><td>{@code TestUpdateExistingNodeStatusTimeout}</td><td>{@code NodeStatusUpdaterTest}</td><td>over the port;
 * connections are {@code SerialRequestsTest}'s</td></tr>
 * <tr><td>{@code TestUpdateNodeStatusAndVolumesInUseWithNodeLease}</td><td>{@code NodeStatusUpdaterTest}</td><td>no
 * volume manager is told what was reported: there is none</td></tr>
 * <tr><td>{@code TestUpdateNodeStatusWithRuntimeStateError}</td><td>{@code RuntimeHealthTest},
 * {@code ReadySetterTest}</td><td>without the two rows of a status that is missing: the types exclude it</td></tr>
 * <tr><td>{@code TestUpdateNewNodeStatusTooLargeReservation}</td><td>{@code MachineInfoSetterTest}</td><td></td></tr>
 * <tr><td>own: bounds of the delay, report after a restart</td><td>{@code LastReportProperties},
 * {@code NodeStatusUpdaterTest}</td><td></td></tr>
 * <tr><td>own: fast update ends, falls back</td><td>{@code FastStatusUpdateTest}</td><td></td></tr>
 * <tr><td>own: label repair, deep copies</td><td>{@code NodeStatusUpdaterTest}</td><td></td></tr>
 * </table>
 *
 * <table>
 * <caption>Setters of the node's status</caption>
 * <tr><th>upstream</th><th>here</th><th>remark</th></tr>
 * <tr><td>{@code TestReadyCondition}</td><td>{@code ReadySetterTest}</td><td></td></tr>
 * <tr><td>{@code TestMemoryPressureCondition}, {@code TestDiskPressureCondition},
 * {@code TestPIDPressureCondition}</td><td>{@code PressureSetterTest}</td><td></td></tr>
 * <tr><td>{@code TestMachineInfo}</td><td>{@code MachineInfoSetterTest}</td><td>without the rows of device
 * plugins: there are none</td></tr>
 * <tr><td>{@code TestVersionInfo}, {@code TestImages}</td><td>{@code SmallSettersTest}</td><td></td></tr>
 * <tr><td>{@code TestNodeAddress_NoCloudProvider}</td><td>{@code NodeAddressSetterTest}</td><td></td></tr>
 * <tr><td>{@code ParseNodeIPArgument}</td><td>{@code NodeIpsTest}</td><td>what is no address is refused, and not left
 * out</td></tr>
 * <tr><td>{@code TestNodeAllocatableReservationForScheduling}</td><td>{@code NodeReservationsTest}</td><td></td></tr>
 * <tr><td>{@code TestNodeAllocatableForEnforcement}</td><td>-</td><td>nothing is enforced: there are no control
 * groups</td></tr>
 * </table>
 *
 * <table>
 * <caption>Node lease</caption>
 * <tr><th>upstream</th><th>here</th><th>remark</th></tr>
 * <tr><td>{@code TestNewNodeLease}</td><td>{@code LeaseRenewalTest}</td><td>that no lease is made without its node:
 * {@code LeaseSyncTest}</td></tr>
 * <tr><td>{@code TestRetryUpdateNodeLease}, {@code TestUpdateUsingLatestLease}</td><td>{@code LeaseSyncTest}</td>
 * <td></td></tr>
 * <tr><td>{@code TestStopDoesNotBlockWhenLeaseCannotBeCreated}</td><td>{@code NodeLeaseControllerTest}</td><td></td></tr>
 * </table>
 *
 * <table>
 * <caption>Node lifecycle controller</caption>
 * <tr><th>upstream</th><th>here</th><th>remark</th></tr>
 * <tr><td>{@code TestMonitorNodeHealthUpdateStatus}, {@code TestMonitorNodeHealthUpdateNodeAndPodStatusWithLease},
 * {@code TestTryUpdateNodeHealth}, {@code TestTaintsNodeByCondition}, {@code TestSwapUnreachableNotReadyTaints},
 * {@code TestGetMinTolerationTime}, {@code TestMonitorNodeHealthEvictPodsWithDisruption}, {@code ComputeZoneState},
 * {@code RateLimitedTimedQueue}</td><td>-</td><td>control plane: it judges nodes, a node agent does not</td></tr>
 * </table>
 *
 * <table>
 * <caption>TTL controller</caption>
 * <tr><th>upstream</th><th>here</th><th>remark</th></tr>
 * <tr><td>{@code TestDesiredTTL}, {@code TestPatchNode}, {@code TestUpdateNodeIfNeeded}</td><td>-</td><td>control
 * plane: it writes the annotation that is read here</td></tr>
 * <tr><td>{@code TestParseNodeAnnotation}</td><td>{@code NodeTtlSourceTest}</td><td></td></tr>
 * </table>
 *
 * <table>
 * <caption>Pod status manager</caption>
 * <tr><th>upstream</th><th>here</th><th>remark</th></tr>
 * <tr><td>{@code TestNewStatus}, {@code TestNewStatusPreservesPodStartTime},
 * {@code TestNewStatusSetsReadyTransitionTime}</td><td>{@code PodStatusManagerTest}</td><td></td></tr>
 * <tr><td>{@code TestChangedStatus}, {@code TestChangedStatusKeepsStartTime}, {@code
 * TestChangedStatusUpdatesLastTransitionTime}</td><td>{@code PodStatusManagerTest}</td><td>two changes before a turn
 * are one report, as in newer versions</td></tr>
 * <tr><td>{@code TestUnchangedStatus}, {@code TestUnchangedStatusPreservesLastTransitionTime},
 * {@code TestStaleUpdates}</td><td>{@code PodStatusManagerTest}</td><td></td></tr>
 * <tr><td>{@code TestSyncPod}</td><td>{@code PodStatusManagerTest}</td><td>as
 * {@code newStatus_isReportedWithAStartTime}</td></tr>
 * <tr><td>{@code TestSyncPodIgnoresNotFound}, {@code TestSyncPodChecksMismatchedUID},
 * {@code TestSyncPodNoDeadlock}</td><td>{@code PodStatusTroubleTest}</td><td></td></tr>
 * <tr><td>{@code TestStatusEquality}</td><td>{@code PodStatusEqualityTest}</td><td></td></tr>
 * <tr><td>{@code TestStatusNormalizationEnforcesMaxBytes}</td><td>{@code PodStatusNormalizerTest}</td><td></td></tr>
 * <tr><td>{@code TestStaticPod},
 * {@code TestDoNotDeleteMirrorPods}</td><td>{@code MirrorStatusTest}</td><td></td></tr>
 * <tr><td>{@code TestTerminatePod}</td><td>{@code PodStatusEndTest}, {@code StatusStepsTest}</td><td></td></tr>
 * <tr><td>{@code TestSetContainerReadiness}, {@code TestSetContainerStartup}</td><td>-</td><td>readiness and startup come
 * with the status of a sync: {@code PodWakeTest}, {@code ContainerHistoryTest}</td></tr>
 * <tr><td>{@code TestReconcilePodStatus}</td><td>{@code PodStatusManagerTest}</td><td></td></tr>
 * <tr><td>{@code TestSyncBatchCleanupVersions},
 * {@code TestDeletePods}</td><td>{@code PodStatusEndTest}</td><td></td></tr>
 * <tr><td>{@code TestUpdateLastTransitionTime}</td><td>{@code StatusStepsTest}</td><td></td></tr>
 * <tr><td>{@code TestMergePodStatus}</td><td>{@code PodStatusMergeTest}</td><td></td></tr>
 * <tr><td>{@code TestPatchPodStatus}</td><td>{@code StatusPatchTest}</td><td></td></tr>
 * <tr><td>{@code TestGenerateContainersReadyCondition},
 * {@code TestGeneratePodReadyCondition}</td><td>{@code PodConditionsTest}</td><td></td></tr>
 * <tr><td>newer: end of a pod in TerminatePod</td><td>{@code StatusStepsTest}</td><td></td></tr>
 * <tr><td>newer: end held back while containers run,
 * {@code DisruptionTarget}</td><td>{@code PodStatusMergeTest}</td><td></td></tr>
 * <tr><td>newer: DeletePodBeforeFinished, {@code DeletePodFinished}</td><td>{@code PodStatusEndTest}</td><td>as
 * {@code deletePods_podThatHasNotEnded_isNot} and {@code deletePods_podThatWasDeletedAndHasEnded_isRemoved}</td></tr>
 * </table>
 *
 * <table>
 * <caption>What pods get of Secrets and ConfigMaps</caption>
 * <tr><th>upstream</th><th>here</th><th>remark</th></tr>
 * <tr><td>{@code TestMakeEnvironmentVariables}</td><td>{@code MakeEnvironmentVariablesTest}</td><td>without the rows
 * that skip names with an event: newer versions take such names ({@code ContainerEnvironmentTest})</td></tr>
 * <tr><td>the table of expansion</td><td>{@code VariableExpansionTest}</td><td></td></tr>
 * <tr><td>{@code TestMakePayload}, {@code TestPluginOptional}, {@code TestPluginOptionalKeys},
 * {@code TestInvalidPathSecret}</td><td>{@code MakePayloadTest}</td><td></td></tr>
 * <tr><td>{@code TestCollectDataWithSecret},
 * {@code TestCollectDataWithConfigMap}</td><td>{@code MakePayloadTest}</td><td></td></tr>
 * <tr><td>{@code TestCollectDataWithDownwardAPI}</td><td>{@code VolumePayloadsTest}</td><td></td></tr>
 * <tr><td>{@code TestCollectDataWithServiceAccountToken}</td><td>-</td><td>tokens are left out of payloads:
 * {@code VolumePayloadsTest} says so</td></tr>
 * <tr><td>pod manager, until 1.23: register with each update</td><td>{@code AssignedPodsTest}</td><td>for
 * observe, which has no syncs</td></tr>
 * <tr><td>own: registered in the sync, released after the end, same name with another
 * UID</td><td>{@code PodWorkersTest}</td><td></td></tr>
 * </table>
 *
 * <table>
 * <caption>Eviction manager, quality of service</caption>
 * <tr><th>upstream</th><th>here</th><th>remark</th></tr>
 * <tr><td>{@code TestGetContainerOOMScoreAdjust}, {@code TestGetContainerOOMScoreAdjustTieBreak}</td>
 * <td>{@code OomScoreAdjustTest}</td><td>without the rows of alpha gates</td></tr>
 * <tr><td>{@code TestOOMScoreAdjTieBreakKillOrder}</td><td>-</td><td>an alpha gate</td></tr>
 * <tr><td>{@code TestGetPodQOS}, {@code TestComputePodQOS}</td><td>{@code QosClassTest}</td><td>without the rows that turn
 * a gate off</td></tr>
 * <tr><td>{@code TestThresholdsMet}, {@code TestPercentageThresholdsMet}, {@code TestNodeConditionsObservedSince},
 * {@code TestNodeConditionsLastObservedAt}, {@code TestThresholdsMetGracePeriod}, {@code TestThresholdsFirstObservedAt},
 * {@code TestSortByEvictionPriority}, {@code TestGetReclaimableThreshold}, {@code TestNodeConditions}</td>
 * <td>{@code ThresholdTrackerTest}</td><td></td></tr>
 * <tr><td>{@code TestHasNodeConditions}</td><td>-</td><td>Java's sets</td></tr>
 * <tr><td>{@code TestMakeSignalObservations}</td><td>{@code RuntimeUsageTest}</td><td></td></tr>
 * <tr><td>{@code TestThresholdsUpdatedStats}</td><td>-</td><td>each run measures anew</td></tr>
 * <tr><td>{@code TestOrderedByMemory} and the nine like it</td><td>{@code EvictionRankingTest}</td><td></td></tr>
 * <tr><td>{@code TestMemoryPressure}, {@code TestPIDPressure}, {@code TestDiskPressureNodeFs},
 * {@code TestInodePressureFsInodes}, {@code TestMinReclaim}, {@code TestNodeReclaimFuncs},
 * {@code TestStaticCriticalPodsAreNotEvicted}, {@code TestAllocatableMemoryPressure}</td>
 * <td>{@code EvictionScenariosTest}</td><td></td></tr>
 * <tr><td>the three {@code VerifyPodStatus}</td><td>{@code EvictionMessagesTest}, {@code EvictedPodsTest}</td><td>without
 * the row that turns a gate off</td></tr>
 * <tr><td>{@code TestAdmitUnderNodeConditions}</td><td>{@code PodRejectionTest}</td><td></td></tr>
 * <tr><td>{@code TestStorageLimitEvictions}, {@code TestEmptyDirLimitEviction},
 * {@code TestManagerWithLocalStorageCapacityIsolationOpen},
 * {@code TestContainerEphemeralStorageLimitEvictionForRestartableInitContainers}</td><td>{@code StorageLimitsTest}</td>
 * <td>a volume in memory without a measured size has the limit of its spec</td></tr>
 * <tr><td>{@code TestUpdateMemcgThreshold}, the four of {@code memory_threshold_notifier_test.go}</td><td>-</td><td>no
 * notifications of the kernel</td></tr>
 * <tr><td>{@code TestParseThresholdConfig}</td><td>{@code EvictionThresholdsTest},
 * {@code EvictionOptionsTest}</td><td></td></tr>
 * <tr><td>{@code TestAddAllocatableThresholds}, {@code TestAddContainerFsThresholds}</td>
 * <td>{@code EvictionOptionsTest}</td><td></td></tr>
 * <tr><td>{@code TestParsePercentage}, {@code TestCompareThresholdValue}</td><td>{@code EvictionThresholdsTest}</td>
 * <td></td></tr>
 * <tr><td>{@code TestEvictionMessageWithInitContainers}</td><td>{@code EvictionMessagesTest}</td><td></td></tr>
 * <tr><td>{@code TestEvictonMessageWithResourceResize}</td><td>-</td><td>containers are not resized in place</td></tr>
 * <tr><td>{@code TestDefaultEvictionHardWindows}</td><td>-</td><td>Linux only</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.upstream;

import org.jspecify.annotations.NullMarked;
