// Graphs of CudaDevice: a stream's work is captured, and instantiated to be launched.
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

GraphHandle CudaDevice::end_capture(Device device, StreamHandle stream) {
  const UseDevice use(device);
  cudaStream_t on = resolve(device, stream);
  cudaGraph_t graph = nullptr;
  {
    const std::unique_lock lock(capturing_);
    at(device).captured.erase(on);
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
