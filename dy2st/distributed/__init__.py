"""`paddle.distributed` in one process: ranks, collectives, `fleet`.

All of it means what it does in a job of one process: the rank is 0, a collective gives what this process gave, a model is trained as it is.
A job of more processes (`PADDLE_TRAINERS_NUM`) is an error, wherever it is noticed.
"""

from __future__ import annotations

from ..missing_names import explain_missing as _explain_missing
from . import communication as communication
from . import fleet as fleet
from . import sharding as sharding
from .auto_parallel import Partial as Partial
from .auto_parallel import Placement as Placement
from .auto_parallel import ProcessMesh as ProcessMesh
from .auto_parallel import ReduceType as ReduceType
from .auto_parallel import Replicate as Replicate
from .auto_parallel import Shard as Shard
from .auto_parallel import dtensor_from_fn as dtensor_from_fn
from .auto_parallel import get_mesh as get_mesh
from .auto_parallel import reshard as reshard
from .auto_parallel import set_mesh as set_mesh
from .auto_parallel import shard_dataloader as shard_dataloader
from .auto_parallel import shard_layer as shard_layer
from .auto_parallel import shard_optimizer as shard_optimizer
from .auto_parallel import shard_scaler as shard_scaler
from .auto_parallel import shard_tensor as shard_tensor
from .auto_parallel import unshard_dtensor as unshard_dtensor
from .collective import P2POp as P2POp
from .collective import ReduceOp as ReduceOp
from .collective import all_gather as all_gather
from .collective import all_gather_object as all_gather_object
from .collective import all_reduce as all_reduce
from .collective import alltoall as alltoall
from .collective import alltoall_single as alltoall_single
from .collective import barrier as barrier
from .collective import batch_isend_irecv as batch_isend_irecv
from .collective import broadcast as broadcast
from .collective import broadcast_object_list as broadcast_object_list
from .collective import gather as gather
from .collective import irecv as irecv
from .collective import isend as isend
from .collective import recv as recv
from .collective import reduce as reduce
from .collective import reduce_scatter as reduce_scatter
from .collective import scatter as scatter
from .collective import scatter_object_list as scatter_object_list
from .collective import send as send
from .collective import wait as wait
from .communication import stream as stream
from .environment import Group as Group
from .environment import ParallelEnv as ParallelEnv
from .environment import ParallelMode as ParallelMode
from .environment import destroy_process_group as destroy_process_group
from .environment import get_backend as get_backend
from .environment import get_group as get_group
from .environment import get_rank as get_rank
from .environment import get_world_size as get_world_size
from .environment import init_parallel_env as init_parallel_env
from .environment import is_available as is_available
from .environment import is_initialized as is_initialized
from .environment import new_group as new_group
from .launch import launch as launch  # the function, under the name of its package, as in PaddlePaddle
from .parallel import DataParallel as DataParallel
from .sharding import group_sharded_parallel as group_sharded_parallel
from .sharding import save_group_sharded_model as save_group_sharded_model
from .spawning import spawn as spawn
from .split_layers import split as split

_explain_missing(__name__)
