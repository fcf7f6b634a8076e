// Graphs of CudaDevice: a stream's work is captured, and instantiated to be launched.
#include <map>
#include <set>

#include "dist/core/device/cuda/check.h"
#include "dist/core/device/cuda/cuda_device.h"

namespace dist {

using cuda_detail::ensure;
using cuda_detail::forget;
using cuda_detail::UseDevice;

// Thread-local: watchdogs and loaders go on asking CUDA what they like.
void CudaDevice::begin_capture(Device device, StreamHandle stream) {
  const UseDevice use(device);
  cudaStream_t on = resolve(device, stream);
  const std::unique_lock lock(capturing_);
  ensure(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal), device, "cudaStreamBeginCapture");
  at(device).captured.insert(on);
}

namespace {

// What `later` is given from now on is recorded to run after what `earlier` was given.
void put_behind(Device device, cudaStream_t later, cudaStream_t earlier) {
  cudaEvent_t event = nullptr;
  ensure(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), device, "cudaEventCreateWithFlags");
  const struct Made {
    cudaEvent_t event;
    ~Made() { forget(cudaEventDestroy(event)); }
  } made{event};
  ensure(cudaEventRecord(event, earlier), device, "cudaEventRecord");
  ensure(cudaStreamWaitEvent(later, event, 0), device, "cudaStreamWaitEvent");
}

}  // namespace

void CudaDevice::fork_capture(Device device, StreamHandle stream, StreamHandle side) {
  const UseDevice use(device);
  cudaStream_t on = resolve(device, stream), beside = resolve(device, side);
  const std::unique_lock lock(capturing_);
  put_behind(device, beside, on);
  at(device).captured.insert(beside);
  at(device).sides[on].insert(beside);
}

void CudaDevice::join_capture(Device device, StreamHandle stream, StreamHandle side) {
  const UseDevice use(device);
  put_behind(device, resolve(device, stream), resolve(device, side));
}

GraphHandle CudaDevice::end_capture(Device device, StreamHandle stream) {
  const UseDevice use(device);
  cudaStream_t on = resolve(device, stream);
  cudaGraph_t graph = nullptr;
  {
    const std::unique_lock lock(capturing_);
    at(device).captured.erase(on);
    for (StreamHandle side : at(device).sides[on]) at(device).captured.erase(side);
    at(device).sides.erase(on);
    ensure(cudaStreamEndCapture(on, &graph), device, "cudaStreamEndCapture");
  }
  const struct Captured {
    cudaGraph_t graph;
    ~Captured() { forget(cudaGraphDestroy(graph)); }
  } captured{graph};
  std::size_t nodes = 0;
  ensure(cudaGraphGetNodes(graph, nullptr, &nodes), device, "cudaGraphGetNodes");
  if (nodes == 0) return nullptr;
  cudaGraphExec_t executable = nullptr;
  ensure(cudaGraphInstantiateWithFlags(&executable, graph, 0), device, "cudaGraphInstantiate({} nodes)",
         nodes);
  return executable;
}

void CudaDevice::launch_graph(Device device, StreamHandle stream, GraphHandle graph) {
  const UseDevice use(device);
  ensure(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), resolve(device, stream)), device,
         "cudaGraphLaunch");
}

void CudaDevice::free_graph(Device device, GraphHandle graph) noexcept {
  const UseDevice use(device, std::nothrow);
  forget(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)));
}

}  // namespace dist
