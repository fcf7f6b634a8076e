// Whether oneDNN is one that distlab can use, and right: version 3.7.2 as Debian 13 has it loses weights on
// its way to the layout of convolutions, where the number of channels is not a multiple of 16.
#include <algorithm>
#include <numeric>
#include <span>

#include <dnnl.hpp>

static_assert(DNNL_VERSION_MAJOR == 2 || DNNL_VERSION_MAJOR == 3);
static_assert(DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP);
extern "C" void omp_set_num_threads(int);

int main() {
  using dnnl::memory;
  using Tag = memory::format_tag;
  omp_set_num_threads(1);
  const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(cpu);
  const auto elements = [](const memory& of) {
    return std::span(static_cast<float*>(of.get_data_handle()), of.get_desc().get_size() / sizeof(float));
  };
  const auto sum = [](std::span<const float> of) { return std::accumulate(of.begin(), of.end(), 0.0); };
  for (const Tag layout : {Tag::ABcd16b16a, Tag::ABcd16a16b, Tag::ABcd8b8a, Tag::ABcd8a8b}) {
    const memory::dims shape{33, 17, 3, 3};
    memory plain({shape, memory::data_type::f32, Tag::abcd}, cpu),
        blocks({shape, memory::data_type::f32, layout}, cpu);
    std::iota(elements(plain).begin(), elements(plain).end(), 1.F);
    std::ranges::fill(elements(blocks), 1.F);  // which must become 0 where no weight belongs
    dnnl::reorder(plain, blocks).execute(stream, plain, blocks);
    stream.wait();
    if (sum(elements(blocks)) != sum(elements(plain))) return 1;
  }
}
