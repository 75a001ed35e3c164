# matplotlib: an animation written by Pillow.
# tree: scientific
import matplotlib.pyplot as plt
from matplotlib import animation
from PIL import Image
fig, ax = plt.subplots(figsize=(2, 2))
line, = ax.plot([], [])
ax.set(xlim=(0, 5), ylim=(0, 25))
def update(n):
    line.set_data(range(n + 1), [i * i for i in range(n + 1)])
    return line,
animation.FuncAnimation(fig, update, frames=4).save("a.gif", writer="pillow")
image = Image.open("a.gif")
print(image.n_frames, image.size, image.format)
