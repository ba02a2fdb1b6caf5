# A training step with compiled norms, kept by torch.compile: on a GPU, or on the simulator where there is none.
import torch

import rmsnorm.torch

target, place = ("native", "cuda") if torch.cuda.is_available() else ("sim:sm_90", "cpu")
module = rmsnorm.torch.compile(256, 1e-5, torch.bfloat16, target=target)

torch.manual_seed(1)
model = torch.nn.Sequential(
    torch.nn.Linear(32, 256),
    rmsnorm.torch.RMSNorm(256, 1e-5, module=module),  # torch.nn.RMSNorm(256, 1e-5)
    torch.nn.Linear(256, 8),
).to(place, torch.bfloat16)
step = torch.compile(model, backend="aot_eager", fullgraph=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
x, target = (torch.randn(64, n, device=place).bfloat16() for n in (32, 8))
losses = []
for _ in range(20):
    loss = torch.nn.functional.mse_loss(step(x).float(), target.float())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
print("the loss falls:", losses[0] > losses[10] > losses[19])
