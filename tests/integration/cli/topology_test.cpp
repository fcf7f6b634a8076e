// What the doctor draws: from folders that look like /sys, and from made-up GPUs.
#include "distlab/doctor/topology.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "distlab/doctor/nccl_choices.h"

namespace distlab {
namespace {

namespace fs = std::filesystem;

class FakeSys {
 public:
  FakeSys() {
    std::string name = fs::temp_directory_path() / "distlab-sys-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~FakeSys() { fs::remove_all(root_); }
  FakeSys(const FakeSys&) = delete;
  FakeSys& operator=(const FakeSys&) = delete;

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  void add_ethernet(const std::string& name, const std::string& state, int speed, int node) const {
    const fs::path card = fs::path("class/net") / name;
    write(card / "operstate", state);
    write(card / "type", "1");
    write(card / "speed", std::to_string(speed));
    if (node >= 0) write(card / "device/numa_node", std::to_string(node));
  }
  void add_port(const std::string& card, const std::string& state, const std::string& layer, int node) const {
    const fs::path port = fs::path("class/infiniband") / card / "ports/1";
    write(port / "state", state);
    write(port / "rate", "400 Gb/sec (4X NDR)");
    write(port / "link_layer", layer);
    write(fs::path("class/infiniband") / card / "device/numa_node", std::to_string(node));
  }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

Gpus gpus_with(int n, const GpuPair& near, const GpuPair& far) {
  Gpus gpus;
  for (int i = 0; i < n; ++i) gpus.gpus.push_back({"H100", i < n / 2 ? 0 : 1});
  for (int i = 0; i < n; ++i) {
    gpus.pairs.emplace_back();
    for (int j = 0; j < n; ++j)
      gpus.pairs.back().push_back(i == j ? GpuPair{} : (i < n / 2) == (j < n / 2) ? near : far);
  }
  return gpus;
}

const Finding& finding(const std::vector<Finding>& all, const std::string& topic) {
  for (const Finding& each : all)
    if (each.topic == topic) return each;
  static const Finding none;
  return none;
}

TEST(Topology, IsDrawnByNodes) {
  const FakeSys sys;
  sys.write("devices/system/node/node0/cpulist", "0-15");
  sys.write("devices/system/node/node1/cpulist", "16-31");
  sys.add_ethernet("eth0", "up", 10'000, 0);
  sys.add_ethernet("eth1", "down", -1, 1);
  sys.add_ethernet("docker0", "down", -1, -1);
  sys.add_port("mlx5_0", "4: ACTIVE", "InfiniBand", 0);
  sys.add_port("mlx5_1", "1: DOWN", "Ethernet", 1);
  const Topology found = read_topology(
      sys.root(), gpus_with(4, {GpuPath::nvlink, 18, true}, {GpuPath::between_nodes, 0, false}));
  EXPECT_EQ(drawn(found),
            "  node 0 (cores 0-15)\n"
            "    |-- GPU 0  H100\n"
            "    |-- GPU 1  H100\n"
            "    |-- eth0  Ethernet, up, 10 Gb/s\n"
            "    `-- mlx5_0:1  InfiniBand, up, 400 Gb/s\n"
            "  node 1 (cores 16-31)\n"
            "    |-- GPU 2  H100\n"
            "    |-- GPU 3  H100\n"
            "    |-- eth1  Ethernet, down\n"
            "    `-- mlx5_1:1  RoCE, down, 400 Gb/s\n"
            "         GPU 0  GPU 1  GPU 2  GPU 3  \n"
            "  GPU 0  -      NV18   SYS*   SYS*   \n"
            "  GPU 1  NV18   -      SYS*   SYS*   \n"
            "  GPU 2  SYS*   SYS*   -      NV18   \n"
            "  GPU 3  SYS*   SYS*   NV18   -      \n"
            "  NV: that many NVLinks. PIX: a PCIe switch. PHB: the CPU's PCIe bridge. SYS: the link between "
            "nodes.\n"
            "  *: neither maps the other's memory.\n");
  const auto said = explain(found);
  EXPECT_EQ(finding(said, "GPU paths").health, Health::absent);
  EXPECT_EQ(finding(said, "GPU paths").found, "no mapping between the GPUs 0-2, 0-3, 1-2, 1-3");
  EXPECT_EQ(finding(said, "NVLink").found, "between the GPUs 0-1, 2-3");
  EXPECT_EQ(finding(said, "fabric").found, "mlx5_1:1 down");
}

TEST(Topology, OfOneNodeWithoutGpusHasWhatThereIs) {
  const FakeSys sys;
  sys.write("devices/system/node/node0/cpulist", "0-1");
  sys.write("devices/system/node/possible", "0");
  sys.add_ethernet("eth0", "up", -1, -1);
  Gpus none;
  none.why_none = "not known: there is no libnvidia-ml.so.1";
  const Topology found = read_topology(sys.root(), none);
  EXPECT_EQ(drawn(found),
            "  node 0 (cores 0-1)\n"
            "    `-- eth0  Ethernet, up\n");
  const auto said = explain(found);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].found, none.why_none);
  EXPECT_NE(said[1].found.find("uses sockets"), std::string::npos);
}

TEST(Topology, SaysWhatConnectedGpusMean) {
  const FakeSys sys;
  const auto linked = explain(
      read_topology(sys.root(), gpus_with(8, {GpuPath::nvlink, 18, true}, {GpuPath::nvlink, 18, true})));
  EXPECT_EQ(finding(linked, "GPU paths").health, Health::good);
  EXPECT_NE(finding(linked, "GPU paths").found.find("P2P"), std::string::npos);
  const auto by_pcie = explain(read_topology(sys.root(), gpus_with(2, {}, {GpuPath::pcie_switch, 0, true})));
  EXPECT_EQ(finding(by_pcie, "NVLink").health, Health::absent);
  const auto alone = explain(read_topology(sys.root(), gpus_with(1, {}, {})));
  EXPECT_EQ(finding(alone, "GPU paths").found,
            "one GPU: ranks that share it map each other's memory, and backend auto is cuda for them");
}

TEST(Topology, NamesThePortsThatAreUpBesideThoseThatAreDown) {
  const FakeSys sys;
  sys.add_port("mlx5_0", "4: ACTIVE", "InfiniBand", 0);
  sys.add_port("mlx5_1", "1: DOWN", "InfiniBand", 0);
  std::vector<std::string> found;
  for (const Finding& each : explain(read_topology(sys.root(), {})))
    if (each.topic == "fabric") found.push_back(each.found);
  EXPECT_EQ(found,
            (std::vector<std::string>{"mlx5_1:1 down",
                                      "1 port up: NCCL between hosts should choose IB; backend auto is "
                                      "nccl where every rank has a GPU of its own"}));
}

// GPUs as a fake libnvidia-ml.so.1 describes them (fake_nvml.cpp).
class FakeGpus {
 public:
  explicit FakeGpus(const char* machine) {
    // From now on the doctor finds it by its name.
    if (!dlopen(FAKE_NVML_LIBRARY, RTLD_NOW)) ADD_FAILURE() << dlerror();
    setenv("FAKE_NVML", machine, 1);
    for (int i = 0; i < 8; ++i)
      sys.write(fs::path("bus/pci/devices") / ("0000:1" + std::to_string(i) + ":00.0") / "numa_node",
                i < 4 ? "0" : "1");
    for (const char* node : {"node0", "node1"})
      sys.write(fs::path("devices/system/node") / node / "cpulist", "0-7");
    topology = read_topology(sys.root(), read_gpus(sys.root()));
  }
  ~FakeGpus() { unsetenv("FAKE_NVML"); }
  FakeGpus(const FakeGpus&) = delete;
  FakeGpus& operator=(const FakeGpus&) = delete;

  FakeSys sys;
  Topology topology;
};

TEST(TopologyOfFakeGpus, NoneIsNotDrawn) {
  const FakeGpus fake("0");
  EXPECT_EQ(fake.topology.gpus.why_none, "not known: NVML finds no GPU (nvmlInit: 0)");
  EXPECT_EQ(drawn(fake.topology), "  node 0 (cores 0-7)\n  node 1 (cores 0-7)\n");
  EXPECT_NE(finding(explain(fake.topology), "GPU paths").cost.find("backend auto is host"),
            std::string::npos);
}

TEST(TopologyOfFakeGpus, OneHasNoPaths) {
  const FakeGpus fake("1");
  EXPECT_EQ(drawn(fake.topology), "  node 0 (cores 0-7)\n    `-- GPU 0  Fake GPU\n  node 1 (cores 0-7)\n");
  EXPECT_NE(finding(explain(fake.topology), "GPU paths").found.find("backend auto is cuda for them"),
            std::string::npos);
}

TEST(TopologyOfFakeGpus, TwoAreApartOrConnected) {
  {
    const FakeGpus fake("2 none");
    EXPECT_NE(drawn(fake.topology).find("  GPU 0  -      SYS*   \n"), std::string::npos);
    const auto said = explain(fake.topology);
    EXPECT_EQ(finding(said, "GPU paths").found, "no mapping between the GPUs 0-1");
    EXPECT_NE(finding(said, "GPU paths").cost.find("backend auto is nccl for a rank per GPU"),
              std::string::npos);
    EXPECT_EQ(finding(said, "NVLink").health, Health::absent);
  }
  {
    const FakeGpus fake("2 pcie");
    EXPECT_NE(drawn(fake.topology).find("  GPU 0  -      PIX    \n"), std::string::npos);
    EXPECT_EQ(finding(explain(fake.topology), "GPU paths").health, Health::good);
  }
  const FakeGpus fake("2 pairs");
  EXPECT_NE(drawn(fake.topology).find("  GPU 0  -      NV4    \n"), std::string::npos);
  EXPECT_EQ(finding(explain(fake.topology), "NVLink").found, "between the GPUs 0-1");
}

TEST(TopologyOfFakeGpus, EightInPairsOrBehindASwitch) {
  {
    const FakeGpus fake("8 pairs");
    EXPECT_NE(
        drawn(fake.topology).find("  GPU 3  SYS*   SYS*   NV4    -      SYS*   SYS*   SYS*   SYS*   \n"),
        std::string::npos)
        << drawn(fake.topology);
    EXPECT_EQ(finding(explain(fake.topology), "NVLink").found, "between the GPUs 0-1, 2-3, 4-5, 6-7");
  }
  const FakeGpus fake("8 switch");
  const std::string picture = drawn(fake.topology);
  EXPECT_NE(picture.find("    `-- GPU 3  Fake GPU\n  node 1 (cores 0-7)\n    |-- GPU 4  Fake GPU\n"),
            std::string::npos)
      << picture;
  EXPECT_NE(picture.find("  GPU 7  NV18   NV18   NV18   NV18   NV18   NV18   NV18   -      \n"),
            std::string::npos)
      << picture;
  EXPECT_EQ(finding(explain(fake.topology), "GPU paths").health, Health::good);
}

// Lines as NCCL has them in its log.
TEST(NcclChoices, AreReadFromItsLog) {
  const std::string log =
      "size (B)  us\n"
      "n1:70:71 [0] NCCL INFO NCCL version 2.28.3+cuda13.0\n"
      "n1:70:71 [0] NCCL INFO Using network IB\n"
      "n1:70:71 [0] NCCL INFO   Algorithm   |                            Tree                  |\n"
      "n1:70:71 [0] NCCL INFO     AllReduce |     6.4/   0.0 |    12.0/   0.0 |    56.0/  92.0 |\n"
      "n1:70:71 [0] NCCL INFO Channel 00/24 :    0   1\n"
      "n1:70:73 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
      "n1:70:73 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
      "n1:72:74 [1] NCCL INFO Channel 00 : 1[1] -> 2[2] via SHM/direct/direct\n"
      "n1:72:74 [1] NCCL INFO Channel 00/0 : 10[1] -> 2[2] [send] via NET/IB/0(2)/GDRDMA\n"
      "n1:72:74 [1] NCCL INFO Channel 00/0 : 2[2] -> 10[1] [receive] via NET/IB/0/GDRDMA\n"
      "n1:72:74 [1] NCCL INFO Connected all rings\n";
  const NcclChoices found = nccl_choices(log);
  EXPECT_EQ(found.network, "IB");
  ASSERT_EQ(found.ways.size(), 3U);
  EXPECT_EQ(found.ways[0].pairs, std::vector<std::string>{"0->1"}) << "once, however many channels it has";
  ASSERT_EQ(found.table.size(), 2U);
  EXPECT_TRUE(found.table[1].starts_with("    AllReduce |     6.4/")) << found.table[1];
  const Finding said = explain(found);
  EXPECT_EQ(said.found, "P2P/CUMEM 0->1; SHM/direct 1->2; NET/IB 10->2; between hosts IB");
  EXPECT_EQ(said.health, Health::absent) << "not all are direct";
  EXPECT_EQ(explain(nccl_choices("NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n")).health,
            Health::good);
  EXPECT_EQ(explain(nccl_choices("nothing of NCCL's\n")).found, "NCCL has not said which paths it takes");
}

TEST(Topology, OfThisMachineIsRead) {
  const Topology found = read_topology("/sys", {});
  for (const NumaNode& node : found.nodes) EXPECT_FALSE(node.cores.empty()) << node.number;
}

}  // namespace
}  // namespace distlab
