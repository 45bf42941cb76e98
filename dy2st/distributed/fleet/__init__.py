"""`distributed.fleet`: a job, of one process. Model and optimizer are what they are without it."""

from __future__ import annotations

from ...missing_names import explain_missing as _explain_missing
from . import meta_parallel as meta_parallel
from . import utils as utils
from .fleet import Fleet as Fleet
from .fleet import UtilBase as UtilBase
from .roles import PaddleCloudRoleMaker as PaddleCloudRoleMaker
from .roles import Role as Role
from .roles import UserDefinedRoleMaker as UserDefinedRoleMaker
from .strategy import DistributedStrategy as DistributedStrategy
from .topology import CommunicateTopology as CommunicateTopology
from .topology import HybridCommunicateGroup as HybridCommunicateGroup
from .utils import recompute as recompute

# the one job of a process; `fleet.fleet` is this object, as in PaddlePaddle
fleet = Fleet()
init = fleet.init
distributed_model = fleet.distributed_model
distributed_optimizer = fleet.distributed_optimizer
distributed_scaler = fleet.distributed_scaler
get_hybrid_communicate_group = fleet.get_hybrid_communicate_group
worker_index = fleet.worker_index
worker_num = fleet.worker_num
node_num = fleet.node_num
local_rank = fleet.local_rank
rank = fleet.worker_index
nranks = fleet.worker_num
world_size = fleet.worker_num
is_first_worker = fleet.is_first_worker
is_worker = fleet.is_worker
is_server = fleet.is_server
is_coordinator = fleet.is_coordinator
worker_endpoints = fleet.worker_endpoints
server_num = fleet.server_num
server_endpoints = fleet.server_endpoints
init_worker = fleet.init_worker
stop_worker = fleet.stop_worker
barrier_worker = fleet.barrier_worker
init_server = fleet.init_server
run_server = fleet.run_server
util = fleet.util

_explain_missing(__name__)
